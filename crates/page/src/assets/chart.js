// Charts as SVG: points with intervals, lines, a band, zoom and a legend that turns series off.

const SVG = 'http://www.w3.org/2000/svg';

// An element of HTML, or of SVG where its name begins with `svg:`.
const el = (name, attributes = {}, ...children) => {
  const isSvg = name.startsWith('svg:');
  const element = isSvg ? document.createElementNS(SVG, name.slice(4)) : document.createElement(name);
  for (const [key, of] of Object.entries(attributes)) {
    if (of == null || of === false) continue;
    if (key.startsWith('on')) element.addEventListener(key.slice(2), of);
    else if (key === 'text') element.textContent = of;
    else element.setAttribute(key, of === true ? '' : of);
  }
  element.append(...children.filter((child) => child != null));
  return element;
};

// A scale from numbers to pixels.
const scaleOf = (low, high, from, to, isLog) => {
  const by = isLog ? Math.log : (of) => of;
  const [a, b] = [by(low), by(high)];
  const width = b - a || 1;
  const scale = (of) => from + ((by(of) - a) / width) * (to - from);
  scale.back = (pixel) => {
    const at = a + ((pixel - from) / (to - from)) * width;
    return isLog ? exp(at) : at;
  };
  return scale;
};

// Round numbers between two ends.
const ticksOf = (low, high, isLog, count) => {
  const nice = (span) => {
    const power = 10 ** Math.floor(Math.log10(span));
    return [1, 2, 5, 10].map((of) => of * power).find((of) => of >= span * 0.999);
  };
  const even = () => {
    const step = nice((high - low) / count);
    const ticks = [];
    for (let at = ceil(low / step - 1e-9); at * step <= high * (1 + 1e-12) && ticks.length < 40; at++)
      ticks.push(Number((at * step).toPrecision(12)));
    return ticks;
  };
  if (!isLog || !(low > 0)) return high > low ? even() : [low];
  if (high / low < 5) return even();
  const decades = Math.log10(high / low);
  const steps = decades > count ? [1] : decades > count / 2.2 ? [1, 3] : [1, 2, 5];
  const every = max(1, ceil(decades / count));
  const ticks = [];
  for (let power = Math.floor(Math.log10(low)); power <= ceil(Math.log10(high)); power++)
    if (power % every === 0)
      for (const step of steps) {
        const tick = Number((step * 10 ** power).toPrecision(6));
        if (tick >= low * 0.999 && tick <= high * 1.001) ticks.push(tick);
      }
  return ticks;
};

// The two ends of a scale for numbers, with a margin.
const endsOf = (numbers, isLog, keep = []) => {
  let [low, high] = [Infinity, -Infinity];
  for (const of of numbers) {
    if (!Number.isFinite(of) || (isLog && of <= 0)) continue;
    if (of < low) low = of;
    if (of > high) high = of;
  }
  for (const of of keep) [low, high] = [min(low, of), max(high, of)];
  if (!(low <= high)) return isLog ? [0.1, 10] : [0, 1];
  if (isLog) {
    const margin = max((high / low) ** 0.05, 1.02);
    return [low / margin, high * margin];
  }
  const margin = (high - low) * 0.05 || abs(high) * 0.05 || 1;
  // If the smallest number is below 60 % of the largest, the scale starts at 0.
  return [low >= 0 && low < high * 0.6 ? 0 : low - margin, high + margin];
};

const colorOf = (at) => `var(--s${at % 16})`;

// The class of series after the eighth: dashed lines and square points.
const furtherOf = (at) => (at % 16 > 7 ? ' further' : '');

// Draws a chart into a box. The specification has:
// - series: [{ name, points: [{ x, y, low, high, row, isHollow }], isLine, isStep }]
// - x and y: { title, isLog, format, ticks: [[number, text]], keep: [numbers that are in sight] }
// - band: { axis: 'x' | 'y', low, high, text }, a line at `mark` of the same axis
// - rules: [{ x, text, title }], vertical lines with a text
// - isAcross: categories are on the left, and numbers are on the x axis; a y tick with `true` is a group heading
// - off: the set of hidden series; onToggle(name)
// - zoom: [x0, x1, y0, y1] or null; onZoom(zoom)
// - tip(point): the text of a point; onPick(point)
// - label: the description for screen readers
const drawChart = (box, spec) => {
  const width = max(280, Math.round(box.clientWidth || 800));
  const shown = spec.series.filter((of) => !spec.off || !spec.off.has(of.key || of.name));
  const points = shown.flatMap((of) => of.points);
  const isNarrow = width < 560;
  const isAcross = spec.isAcross;
  const categories = isAcross ? spec.y.ticks : null;
  const longest = isAcross ? max(...categories.map(([, text, isHeading]) => (isHeading ? 0 : text.length)), 4) : 0;
  const left = isAcross ? min(max(longest * 7 + 18, 70), width * (isNarrow ? 0.42 : 0.36)) : isNarrow ? 66 : 80;
  const height = spec.height || (isAcross ? categories.length * 26 + 64 : isNarrow ? 300 : 380);
  const [top, right, bottom] = [14, 16, 50];
  const zoom = spec.zoom || [];
  const ends = (axis, at, of) => {
    if (zoom[at] != null) return [zoom[at], zoom[at + 1]];
    if (axis.ends) return axis.ends;
    return endsOf(of.filter((it) => it != null), axis.isLog, axis.keep);
  };
  const xEnds = ends(spec.x, 0, points.flatMap((of) => (isAcross ? [of.x, of.low, of.high] : [of.x])));
  const yEnds = ends(spec.y, 2, isAcross ? [] : points.flatMap((of) => [of.y, of.low, of.high]));
  const x = scaleOf(xEnds[0], xEnds[1], left, width - right, spec.x.isLog);
  const y = scaleOf(yEnds[0], yEnds[1], height - bottom, top, spec.y.isLog);
  const svg = el('svg:svg', { viewBox: `0 0 ${width} ${height}`, width, height, role: 'img', 'aria-label': spec.label });
  svg.append(el('svg:title', { text: spec.label }));
  const clip = `clip-${Math.random().toString(36).slice(2)}`;
  svg.append(el('svg:clipPath', { id: clip },
    el('svg:rect', { x: left, y: top, width: max(width - left - right, 1), height: height - top - bottom })));
  const axes = el('svg:g', { class: 'axes' });
  const cut = (text, room) => {
    const most = max(4, Math.floor(room / 7));
    return text.length > most ? `${text.slice(0, ceil(most / 2) - 1)}…${text.slice(-Math.floor(most / 2))}` : text;
  };
  const xTicks = spec.x.ticks || ticksOf(xEnds[0], xEnds[1], spec.x.isLog, isNarrow ? 4 : 8).map((of) => [of, spec.x.format(of)]);
  let last = -Infinity;
  for (const [at, text] of xTicks) {
    if (at < min(...xEnds) || at > max(...xEnds)) continue;
    const px = x(at);
    const room = spec.x.ticks ? max(40, (width - left - right) / max(spec.x.ticks.length, 1)) : 90;
    const shortText = cut(text, room);
    axes.append(el('svg:line', { x1: px, x2: px, y1: top, y2: height - bottom, class: 'grid' }));
    if (px - last < shortText.length * 6 + 8) continue;
    last = px;
    axes.append(el('svg:text', { x: px, y: height - bottom + 17, class: 'tick', 'text-anchor': 'middle', text: shortText }));
  }
  const yTicks = spec.y.ticks || ticksOf(yEnds[0], yEnds[1], spec.y.isLog, 6).map((of) => [of, spec.y.format(of)]);
  for (const [at, text, isHeading] of yTicks) {
    if (at < min(...yEnds) || at > max(...yEnds)) continue;
    if (isHeading) {
      axes.append(el('svg:text', { x: 8, y: y(at) + 6, class: 'axis heading', text: cut(text, width - 16) }));
      continue;
    }
    axes.append(el('svg:line', { x1: left, x2: width - right, y1: y(at), y2: y(at), class: 'grid' }));
    const label = el('svg:text', { x: left - 8, y: y(at) + 4, class: 'tick', 'text-anchor': 'end', text: cut(text, left - 10) });
    label.append(el('svg:title', { text }));
    axes.append(label);
  }
  axes.append(el('svg:text', { x: (left + width - right) / 2, y: height - 8, class: 'axis', 'text-anchor': 'middle',
    text: cut(spec.x.title || '', (width - left) * 0.98) }));
  if (!isAcross && spec.y.title)
    axes.append(el('svg:text', { transform: `translate(13 ${(top + height - bottom) / 2}) rotate(-90)`, class: 'axis',
      'text-anchor': 'middle', text: cut(spec.y.title, height - top - bottom) }));
  svg.append(axes);
  const plot = el('svg:g', { 'clip-path': `url(#${clip})` });
  const { band, mark } = spec;
  const lineAt = (at, axis, of) => (axis === 'x'
    ? el('svg:line', { x1: x(at), x2: x(at), y1: top, y2: height - bottom, class: of })
    : el('svg:line', { x1: left, x2: width - right, y1: y(at), y2: y(at), class: of }));
  if (band) {
    const area = band.axis === 'x'
      ? { x: x(band.low), width: max(x(band.high) - x(band.low), 1), y: top, height: height - top - bottom }
      : { x: left, width: width - left - right, y: y(band.high), height: max(y(band.low) - y(band.high), 1) };
    plot.append(el('svg:rect', { ...area, class: 'band' }, el('svg:title', { text: band.text })));
  }
  if (mark != null) plot.append(lineAt(mark, isAcross ? 'x' : 'y', 'mark'));
  let edge = -Infinity;
  for (const { x: at, text, title } of [...(spec.rules || [])].sort((a, b) => a.x - b.x)) {
    const px = x(at);
    const rule = lineAt(at, 'x', 'rule');
    rule.append(el('svg:title', { text: title }));
    plot.append(rule);
    if (px < edge || px > width - right) continue;
    edge = px + text.length * 7 + 8;
    const isLeft = edge > width - right;
    axes.append(el('svg:text', { x: px + (isLeft ? 4 : -4), y: top - 3, class: 'rule-text', 'text-anchor': isLeft ? 'end' : 'start', text }));
  }
  const spots = [];
  for (const of of shown) {
    const place = of.color ?? spec.series.indexOf(of);
    const color = colorOf(place);
    const further = furtherOf(place);
    const placed = of.points.map((point) => ({ point, px: x(point.x), py: y(point.y) }))
      .filter((it) => Number.isFinite(it.px) && Number.isFinite(it.py));
    spots.push(...placed);
    if (of.isLine && placed.length > 1) {
      const path = placed.map(({ px, py }, at) => {
        if (!at) return `M${px.toFixed(1)} ${py.toFixed(1)}`;
        return of.isStep ? `V${py.toFixed(1)}H${px.toFixed(1)}` : `L${px.toFixed(1)} ${py.toFixed(1)}`;
      });
      plot.append(el('svg:path', { d: path.join(''), class: `line${of.isDashed ? ' dashed' : ''}${further}`, style: `stroke:${color}` }));
    }
    const whiskers = placed.filter(({ point }) => point.low != null && point.low !== point.high)
      .map(({ point, px, py }) => {
        if (isAcross) return `M${x(point.low).toFixed(1)} ${py.toFixed(1)}H${x(point.high).toFixed(1)}`;
        return `M${px.toFixed(1)} ${y(point.low).toFixed(1)}V${y(point.high).toFixed(1)}`;
      }).filter((path) => !/NaN|Infinity/.test(path));
    if (whiskers.length) plot.append(el('svg:path', { d: whiskers.join(''), class: 'whisker', style: `stroke:${color}` }));
    if (of.isBare) continue;
    for (const isHollow of [false, true]) {
      const dots = placed.filter(({ point }) => !!point.isHollow === isHollow)
        .map(({ px, py }) => `M${px.toFixed(1)} ${py.toFixed(1)}h0`);
      if (!dots.length) continue;
      const size = placed.length > 2000 ? 'tiny' : placed.length > 200 ? 'small' : '';
      plot.append(el('svg:path', { d: dots.join(''), class: `dots ${size}${further}`, style: `stroke:${color}` }));
      if (isHollow) plot.append(el('svg:path', { d: dots.join(''), class: `dots hollow ${size}${further}` }));
    }
  }
  if (spec.front) {
    const path = spec.front.map((of, at) => `${at ? 'L' : 'M'}${x(of.x).toFixed(1)} ${y(of.y).toFixed(1)}`);
    plot.append(el('svg:path', { d: path.join(''), class: 'front' }));
  }
  const focus = el('svg:circle', { r: 8, class: 'focus', visibility: 'hidden' });
  const selection = el('svg:rect', { class: 'selection', visibility: 'hidden' });
  plot.append(focus, selection);
  svg.append(plot);
  box.replaceChildren(svg);
  attachPointer({ svg, spec, spots, focus, selection, x, y, area: [left, width - right, top, height - bottom], isAcross });
  if (spec.series.length > 1) box.append(legendOf(spec));
};

// The names of the series as buttons that turn them on and off.
const legendOf = (spec) => {
  const entry = (of, at) => {
    const isOff = spec.off && spec.off.has(of.key || of.name);
    return el('button', { type: 'button', class: 'series', 'aria-pressed': String(!isOff), disabled: !spec.onToggle,
      onclick: () => spec.onToggle(of.key || of.name) },
    el('i', { class: furtherOf(of.color ?? at), style: `background:${colorOf(of.color ?? at)}` }), of.name);
  };
  const most = 24;
  const entries = spec.series.slice(0, most).map(entry);
  const more = spec.series.length - most;
  return el('div', { class: 'legend', role: 'group', 'aria-label': 'Series' }, ...entries,
    more > 0 ? el('span', { text: `and ${more} more` }) : null);
};

// Hover finds the nearest point, a click picks it, and a drag zooms.
const attachPointer = ({ svg, spec, spots, focus, selection, x, y, area, isAcross }) => {
  const [left, right, top, bottom] = area;
  const place = (event) => {
    const box = svg.getBoundingClientRect();
    const scale = svg.viewBox.baseVal.width / box.width;
    return [(event.clientX - box.left) * scale, (event.clientY - box.top) * scale];
  };
  const nearest = ([px, py]) => {
    let best = null;
    let least = 40 * 40;
    for (const spot of spots) {
      const dx = isAcross ? (spot.px - px) / 20 : spot.px - px;
      const distance = dx * dx + (spot.py - py) ** 2;
      if (distance < least) [best, least] = [spot, distance];
    }
    return best;
  };
  let start = null;
  const leave = () => {
    focus.setAttribute('visibility', 'hidden');
    hideTip();
  };
  svg.addEventListener('pointermove', (event) => {
    const at = place(event);
    if (start && spec.onZoom) {
      const [x0, x1] = [max(min(start[0], at[0]), left), min(max(start[0], at[0]), right)];
      const [y0, y1] = isAcross ? [top, bottom]
        : [max(min(start[1], at[1]), top), min(max(start[1], at[1]), bottom)];
      const size = { x: x0, y: y0, width: max(x1 - x0, 0), height: max(y1 - y0, 0), visibility: 'visible' };
      for (const [key, of] of Object.entries(size)) selection.setAttribute(key, of);
      return;
    }
    const spot = nearest(at);
    if (!spot) return leave();
    focus.setAttribute('cx', spot.px);
    focus.setAttribute('cy', spot.py);
    focus.setAttribute('visibility', 'visible');
    if (spec.tip) showTip(spec.tip(spot.point), event.clientX, event.clientY);
  });
  svg.addEventListener('pointerleave', leave);
  svg.addEventListener('pointerdown', (event) => {
    if (event.pointerType === 'mouse') start = place(event);
  });
  svg.addEventListener('pointerup', (event) => {
    const at = place(event);
    const from = start;
    start = null;
    selection.setAttribute('visibility', 'hidden');
    const isDrag = from && Math.hypot(at[0] - from[0], at[1] - from[1]) > 12;
    if (isDrag && spec.onZoom) {
      const xs = [x.back(max(min(from[0], at[0]), left)), x.back(min(max(from[0], at[0]), right))];
      const ys = [y.back(min(max(from[1], at[1]), bottom)), y.back(max(min(from[1], at[1]), top))];
      return spec.onZoom(isAcross ? xs : [...xs, ...ys]);
    }
    const spot = nearest(at);
    if (spot && spec.onPick) spec.onPick(spot.point);
  });
};

// Shows the tooltip. The page has a single tooltip element.
const showTip = (lines, clientX, clientY) => {
  let tip = document.getElementById('tip');
  if (!tip) document.body.append((tip = el('div', { id: 'tip', role: 'presentation' })));
  tip.replaceChildren(...lines.map((line, at) => el(at ? 'div' : 'strong', { text: line })));
  tip.style.display = 'block';
  const { offsetWidth, offsetHeight } = tip;
  const [roomX, roomY] = [document.documentElement.clientWidth, document.documentElement.clientHeight];
  tip.style.left = `${max(4, min(clientX + 14, roomX - offsetWidth - 6))}px`;
  tip.style.top = `${clientY + offsetHeight + 24 > roomY ? max(4, clientY - offsetHeight - 12) : clientY + 16}px`;
};

const hideTip = () => {
  const tip = document.getElementById('tip');
  if (tip) tip.style.display = 'none';
};
