// The page: its controls, the table, the chart and the fragment of the URL. All show the same state.

const WINDOW_FROM = 300;
const ROW_HEIGHT = 34;
const MOST_BARS = 40;
const MULTIPLES_FROM = 200;
const MOST_CHIPS = 9;
const WORDS = { improved: '▲ better', regressed: '▼ worse', equivalent: '=', inconclusive: '? inconclusive' };
const VERDICT_COLORS = { improved: 0, regressed: 1, equivalent: 2, inconclusive: 3, baseline: 4, '': 5 };

let page = null;
let state = null;
let rows = [];
let job = 0;
const parts = {};

const button = (attributes, ...children) => el('button', { type: 'button', ...attributes }, ...children);

const runNow = () => page.runs[state.r];

// The verdict of a row in words.
const wordOf = (row) => (row.of.verdict === 'equivalent' ? `within the threshold of ${percent(row.limit)}` : row.of.verdict);

// Whether the rows of a group are next to each other, below its heading.
const isGrouped = () => runNow().groups.length > 1 && ['best', 'order'].includes(state.sort[0]);

// The initial state of a run.
const firstState = (r) => {
  const { first, cells } = page.runs[r];
  const chart = cells.length > MULTIPLES_FROM && factorsOf(page.runs[r]).length > 1 ? 'factors' : 'list';
  return { r, p: first.phase, o: first.operation, m: first.metric, b: null, n: null, isAbsolute: false, isLog: false, sort: ['best', false],
    chart, off: new Set(), filters: new Map(), query: '', zoom: null, open: null };
};

// Writes the state to the fragment of the URL. The fragment omits values that equal the initial state.
const writeHash = () => {
  const run = runNow();
  const first = firstState(state.r);
  const out = new URLSearchParams();
  new URLSearchParams(location.hash.slice(1)).forEach((of, key) => key.startsWith('history.') && out.set(key, of));
  const put = (key, of, isFirst) => !isFirst && out.set(key, of);
  put('run', run.folder, page.runs.length === 1);
  put('phase', run.phases[state.p], state.p === first.p);
  put('operation', run.operations[state.o], state.o === first.o);
  put('metric', run.metrics[state.m] && run.metrics[state.m].name, state.m === first.m);
  put('baseline', state.b === null ? '' : run.cells[state.b].number, state.b === null);
  put('machine', state.n === null ? '' : run.machines[state.n].name, state.n === null);
  put('scale', 'absolute', !state.isAbsolute);
  put('axis', 'log', !state.isLog);
  put('sort', state.sort.join(','), state.sort[0] === 'best');
  put('chart', state.chart, state.chart === first.chart);
  put('hide', [...state.off].join('|'), !state.off.size);
  put('find', state.query, !state.query);
  put('zoom', (state.zoom || []).map((of) => Number(of.toPrecision(6))).join(','), !state.zoom);
  put('open', state.open === null ? '' : run.cells[state.open].number, state.open === null);
  for (const [at, values] of state.filters) put(run.swept[at].path, [...values].join('|'), false);
  const hash = out.toString();
  document.querySelectorAll('a[data-keeps-hash]').forEach((link) => { link.hash = hash; });
  history.replaceState(null, '', hash ? `#${hash}` : location.pathname + location.search);
};

// Reads the state from the fragment of the URL. A value that the fragment lacks is taken from the initial state.
const readHash = () => {
  const of = new URLSearchParams(location.hash.slice(1));
  const r = max(0, page.runs.findIndex((run) => run.folder === of.get('run')));
  const [run, read] = [page.runs[r], firstState(r)];
  const place = (names, name, otherwise) => (names.includes(name) ? names.indexOf(name) : otherwise);
  read.p = place(run.phases, of.get('phase'), read.p);
  read.o = place(run.operations, of.get('operation'), read.o);
  read.m = place(run.metrics.map((metric) => metric.name), of.get('metric'), read.m);
  const cell = (key) => {
    const at = run.cells.findIndex((it) => of.has(key) && String(it.number) === of.get(key));
    return at < 0 ? null : at;
  };
  read.b = cell('baseline');
  read.open = cell('open');
  read.n = place(run.machines.map((machine) => machine.name), of.get('machine'), null);
  read.isAbsolute = of.get('scale') === 'absolute';
  read.isLog = of.get('axis') === 'log';
  const [key, isDown] = (of.get('sort') || 'best').split(',');
  read.sort = [SORTS[key] ? key : 'best', isDown === 'true'];
  if (chartKinds(run).some(([kind]) => kind === of.get('chart'))) read.chart = of.get('chart');
  read.off = new Set((of.get('hide') || '').split('|').filter(Boolean));
  read.query = of.get('find') || '';
  const zoom = (of.get('zoom') || '').split(',').map(Number);
  if (of.get('zoom') && zoom.every(Number.isFinite) && [2, 4].includes(zoom.length)) read.zoom = zoom;
  run.swept.forEach(({ path }, at) => of.has(path) && read.filters.set(at, new Set(of.get(path).split('|'))));
  return read;
};

// The phase, kind of operation, metric and machine that are shown.
const selected = () => ({ phase: state.p, operation: state.o, metric: state.m, machine: state.n });

// Changes parts of the state, and shows the new state.
const set = (changes, isView = false) => {
  const isSelection = ['r', 'p', 'o', 'm', 'b', 'n'].some((key) => key in changes);
  if (isSelection && !('zoom' in changes)) changes.zoom = null;
  Object.assign(state, changes);
  settle();
  writeHash();
  if (isView) showRows();
  else show();
};

// If the selection has no numbers, selects a kind of operation and a metric with numbers.
const settle = () => {
  const run = runNow();
  if (findMatrix(run.numbers, selected())) return;
  const other = run.numbers.find((it) => it.phase === state.p && it.metric === state.m)
    || run.numbers.find((it) => it.phase === state.p);
  if (other) Object.assign(state, { o: other.operation, m: other.metric });
};

const distinctOf = (run, at) => [...new Set(run.cells.map((cell) => cell.swept[at]))];

const keepsCell = (run) => {
  const query = state.query.toLowerCase();
  return (cell) => {
    const { swept, label } = run.cells[cell];
    for (const [at, values] of state.filters) if (swept[at] !== '' && !values.has(swept[at])) return false;
    return !query || label.toLowerCase().includes(query);
  };
};

// Computes the rows in slices of a frame, then shows them.
const show = () => {
  const run = runNow();
  showControls();
  const own = ++job;
  const steps = computeRows(page, run, selected(), state.b, keepsCell(run));
  const slice = () => {
    if (own !== job) return;
    const end = performance.now() + 12;
    let step = steps.next();
    while (!step.done && performance.now() < end) step = steps.next();
    if (!step.done) {
      parts.status.textContent = `${step.value} configurations compared …`;
      parts.figure.hidden = !parts.chart.firstChild;
      requestAnimationFrame(slice);
      return;
    }
    rows = step.value;
    showRows();
  };
  slice();
};

const showRows = () => {
  rows = sortRows(rows, state.sort, runNow().metrics[state.m].better);
  parts.figure.hidden = false;
  showStatus();
  showTable();
  showChart();
  if (state.open !== null && !document.querySelector('dialog.detail')) {
    const row = rows.find((it) => it.cell === state.open);
    if (row) openRow(row);
  }
};

const openRow = (row) => {
  state.open = row.cell;
  writeHash();
  hideTip();
  openDetail(page, runNow(), state, row, () => {
    state.open = null;
    writeHash();
    const back = parts.tbody.querySelector(`[data-cell="${row.cell}"] button`);
    if (back) back.focus();
  });
};

// A group of buttons with one pressed button, or a list if there are many options.
const choice = (label, options, chosen, onChoose, isList = options.length > MOST_CHIPS) => {
  if (options.length < 2) return null;
  const name = `choice-${label.replace(/\W/g, '')}`;
  if (isList) {
    const select = el('select', { id: name, onchange: (event) => onChoose(options[event.target.selectedIndex][0]) },
      ...options.map(([key, text]) => el('option', { selected: key === chosen, text })));
    return el('div', { class: 'choice' }, el('label', { for: name, text: label }), select);
  }
  const chips = options.map(([key, text, title]) => button({ class: 'chip', title,
    'aria-pressed': String(key === chosen), onclick: () => onChoose(key), text }));
  return el('div', { class: 'choice', role: 'group', 'aria-label': label }, el('span', { class: 'name', text: label }), ...chips);
};

const chartKinds = (run) => {
  const kinds = [['list', 'configurations']];
  if (factorsOf(run).length > 1) kinds.push(['factors', 'by each factor']);
  run.swept.forEach(({ path, title }, at) => distinctOf(run, at).length > 1 && kinds.push([`by:${path}`, `by ${title}`]));
  run.metrics.forEach((metric) => kinds.push([`against:${metric.name}`, `against ${metric.title}`]));
  return kinds;
};

const showControls = () => {
  const run = runNow();
  const focused = document.activeElement && parts.controls.contains(document.activeElement)
    ? [...parts.controls.querySelectorAll('button, select, input')].indexOf(document.activeElement) : -1;
  const has = (of) => run.numbers.some((it) => Object.entries(of).every(([key, at]) => it[key] === at));
  const phases = run.phases.map((name, at) => [at, name]).filter(([at]) => has({ phase: at }));
  const operations = run.operations.map((name, at) => [at, name]).filter(([at]) => has({ phase: state.p, operation: at }));
  const metrics = run.metrics.map((metric, at) => [at, metric.title, metric.definition])
    .filter(([at]) => has({ phase: state.p, operation: state.o, metric: at }));
  const filters = run.swept.map(({ title }, at) => {
    const values = distinctOf(run, at).filter((of) => of !== '');
    if (values.length < 2 || values.length > 16) return null;
    const kept = state.filters.get(at);
    const toggle = (of) => {
      const next = new Set(kept || values);
      if (next.has(of)) next.delete(of);
      else next.add(of);
      const others = new Map(state.filters);
      if (next.size === 0 || next.size === values.length) others.delete(at);
      else others.set(at, next);
      set({ filters: others });
    };
    return el('div', { class: 'choice', role: 'group', 'aria-label': `Show ${title}` }, el('span', { class: 'name', text: title }),
      ...values.map((of) => button({ class: 'chip filter', text: of === 'none' ? '"none"' : of,
        'aria-pressed': String(!kept || kept.has(of)), onclick: () => toggle(of) })));
  });
  const baselines = [[null, 'of the run'], ...run.cells.map((cell, at) => [at, cell.label])];
  const baseline = run.cells.length <= 2000 ? choice('baseline', run.cells.length > 1 ? baselines : [], state.b, (b) => set({ b })) : null;
  const search = run.cells.length > 12 ? el('div', { class: 'choice' }, el('label', { for: 'find', text: 'find' }),
    el('input', { id: 'find', type: 'search', value: state.query, placeholder: 'part of a name',
      oninput: (event) => set({ query: event.target.value }) })) : null;
  const chart = choice('chart', chartKinds(run), state.chart, (of) => set({ chart: of, zoom: null, off: new Set() }, true), true);
  parts.controls.replaceChildren(...[
    choice('phase', phases, state.p, (p) => set({ p })),
    choice('operation', operations, state.o, (o) => set({ o })),
    choice('metric', metrics, state.m, (m) => set({ m })),
    baseline,
    choice('machine', run.machines.length ? [[null, 'all'], ...run.machines.map(({ name }, at) => [at, name])] : [], state.n, (n) => set({ n })),
    ...filters,
    search,
    chart,
    choice('numbers', [[false, 'relative'], [true, 'absolute']], state.isAbsolute, (of) => set({ isAbsolute: of, zoom: null }, true)),
    choice('axis', [[false, 'linear'], [true, 'log']], state.isLog, (of) => set({ isLog: of, zoom: null }, true)),
  ].filter(Boolean));
  const again = parts.controls.querySelectorAll('button, select, input')[focused];
  if (again) {
    again.focus();
    if (again.type === 'search') again.setSelectionRange(again.value.length, again.value.length);
  }
  for (const button of parts.runs ? parts.runs.querySelectorAll('button') : [])
    button.setAttribute('aria-pressed', String(Number(button.dataset.run) === state.r));
};

const titleNow = () => {
  const run = runNow();
  const operation = run.operations[state.o] === 'all' ? '' : ` of ${run.operations[state.o]}`;
  return `${run.metrics[state.m].title}${operation} in phase ${run.phases[state.p]}`;
};

const betterNow = () => ({ higher: 'higher is better', lower: 'lower is better' }[runNow().metrics[state.m].better]
  || 'neither higher nor lower is better');

const baselineNow = () => {
  const run = runNow();
  const of = [...new Set(run.groups.map((group) => baselineIn(run, group, state.b)))];
  return of.length === 1 && of[0] !== null ? run.cells[of[0]].label : 'the baseline of each group';
};

const showStatus = () => {
  const run = runNow();
  const floor = max(0, ...rows.map((row) => row.floor));
  const noise = floor > 0 ? ` Noise floor: two trials of the baseline differ by up to ${percent(floor)}.` : '';
  const of = `${rows.length} of ${run.groups.reduce((sum, group) => sum + group.cells.length, 0)} configurations`;
  parts.title.textContent = titleNow();
  const where = state.n === null ? '' : ` on ${run.machines[state.n].name}`;
  parts.status.textContent = `${of}${where}, against ${baselineNow()}; ${betterNow()}.${noise}`;
  const omitted = run.omitted.length ? ` To stay small, this page omits the metrics ${run.omitted.join(', ')}; see runs.csv.` : '';
  parts.note.textContent = (run.is_counted ? 'Counters are exact and have no confidence interval.'
    : 'A ratio is the median over paired rounds; its 95 % confidence interval is a bootstrap over rounds. p-values are corrected for the rows shown (Holm), or by the run for its own comparisons.') + omitted;
};

const HEADS = [['label', 'configuration'], ['value', 'value'], ['ratio', 'vs baseline'], ['ci', '95 % CI'], ['p', 'p'], ['n', 'trials'],
  ['verdict', 'verdict']];

// The color of a row: better and worse by the size of the ratio.
const toneOf = (row) => {
  if (!row.of || row.of.ratio === null || !['improved', 'regressed'].includes(row.of.verdict)) return '';
  const size = min(abs(Math.log(row.of.ratio)) / Math.LN2, 2) / 2;
  return `--tone:var(--${row.of.verdict});--mix:${(12 + (Number.isFinite(size) ? size : 1) * 38).toFixed(0)}%`;
};

const tipOf = (row) => {
  const metric = runNow().metrics[state.m];
  const lines = [row.heading ? `${row.heading}: ${row.label}` : row.label,
    `${metric.title}: ${exact(row.median, metric.unit)}${row.spread === null || runNow().is_counted ? '' : `, ± ${(row.spread * 100).toFixed(1)}% over trials`}`];
  if (row.isBaseline) lines.push('the baseline');
  if (row.of && row.of.ratio !== null) {
    const ends = row.of.low !== null && row.of.low !== row.of.high ? `, 95 % CI ${row.of.low.toPrecision(6)} to ${row.of.high.toPrecision(6)}` : '';
    lines.push(`ratio ${Number(row.of.ratio.toPrecision(8))}${ends}`);
  }
  lines.push(`n = ${row.n}${row.of && row.of.p !== null ? `, p = ${pText(row.of.p)}` : ''}`);
  return [...lines, ...row.doubts];
};

const lineOf = (row, at) => {
  const run = runNow();
  const metric = run.metrics[state.m];
  const change = row.of ? changeOf(row.of, row.baseMedian, metric) : null;
  const spread = row.spread === null || run.is_counted ? '' : ` ± ${row.spread > 0 && row.spread < 0.005 ? '<1' : (row.spread * 100).toFixed(0)}%`;
  const name = row.name === 'none' ? '"none"' : row.name;
  const said = row.of && (row.of.verdict === 'equivalent' ? `${WORDS.equivalent} ${wordOf(row)}` : WORDS[row.of.verdict]);
  const verdict = row.isBaseline ? 'baseline' : said || '';
  const cell = (of, text, ...more) => el('td', { class: of, text }, ...more);
  return el('tr', { 'data-cell': row.cell, 'data-at': at, 'aria-rowindex': at + 2, class: row.isBaseline ? 'is-baseline' : null, style: toneOf(row) },
    el('th', { scope: 'row' }, row.heading && !parts.hasHeadings ? el('small', { text: row.heading }) : null,
      button({ class: 'name', title: row.label, onclick: () => openRow(row), text: name })),
    cell('number', '', value(row.median, metric.unit), spread ? el('small', { text: spread }) : null),
    cell('number change', change ? `${change.short} ${change.word}` : ''),
    cell('number', run.is_counted && row.of ? 'exact' : change ? change.range : ''),
    cell('number wide', row.of ? pText(row.of.p) : ''),
    cell('number wide', String(row.n)),
    cell('verdict', verdict, row.doubts.length ? el('small', { class: 'doubt', text: row.doubts[0] }) : null),
    el('td', { class: 'tools' }, row.isBaseline ? null : button({ class: 'chip', title: `Compare all with ${row.label}`,
      'aria-label': `Use ${row.label} as the baseline`, onclick: () => set({ b: row.cell }), text: 'set as baseline' })));
};

const showTable = () => {
  const isWindowed = rows.length > WINDOW_FROM && !parts.isPrinting;
  parts.scroll.classList.toggle('windowed', isWindowed);
  parts.table.setAttribute('aria-rowcount', rows.length + 1);
  parts.table.classList.toggle('exact', runNow().is_counted);
  const metric = runNow().metrics[state.m];
  parts.heads[1].firstChild.textContent = metric.unit === 'ops/s' ? 'value (ops/s)' : 'value';
  parts.hasHeadings = isGrouped() && !isWindowed;
  const isBest = state.sort[0] === 'best' && runNow().groups.length === 1 && metric.better !== 'neither';
  for (const head of parts.heads) {
    const [key, isDown] = isBest ? ['value', metric.better === 'higher'] : state.sort;
    const isSorted = head.dataset.key === key;
    head.setAttribute('aria-sort', isSorted ? (isDown ? 'descending' : 'ascending') : 'none');
  }
  parts.shown = null;
  fillTable();
};

// Renders the visible rows of the table. A small table is rendered completely.
const fillTable = () => {
  const isWindowed = parts.scroll.classList.contains('windowed');
  const [from, to] = isWindowed
    ? [max(0, Math.floor(parts.scroll.scrollTop / ROW_HEIGHT) - 12),
      min(rows.length, ceil((parts.scroll.scrollTop + parts.scroll.clientHeight) / ROW_HEIGHT) + 12)]
    : [0, min(rows.length, parts.isPrinting ? 3000 : rows.length)];
  const shown = `${from} ${to}`;
  if (parts.shown === shown) return;
  parts.shown = shown;
  const spacer = (count) => (count > 0 ? el('tr', { class: 'spacer', 'aria-hidden': 'true', style: `height:${count * ROW_HEIGHT}px` }) : null);
  const active = document.activeElement && document.activeElement.closest('tr[data-cell]');
  const lines = rows.slice(from, to).flatMap((row, at) => {
    const line = lineOf(row, from + at);
    if (!parts.hasHeadings || (at && rows[at - 1].heading === row.heading)) return [line];
    return [el('tr', { class: 'group' }, el('th', { scope: 'colgroup', colspan: HEADS.length + 1, text: row.heading })), line];
  });
  parts.tbody.replaceChildren(...[spacer(from), ...lines, isWindowed ? spacer(rows.length - to) : null].filter(Boolean));
  if (active && parts.scroll.contains(parts.tbody)) {
    const again = parts.tbody.querySelector(`[data-at="${active.dataset.at}"] button`);
    if (again) again.focus({ preventScroll: true });
  }
};

// The size of a swept value, as `4KiB` or `0.5`; null where it is a name.
const sizeOf = (text) => {
  const match = /^([0-9][0-9_]*(?:\.[0-9]+)?(?:e[0-9]+)?)\s*(B|[KMGT]i?B|ns|us|ms|s)?$/.exec(text);
  if (!match) return null;
  const sizes = { B: 1, KB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12, KiB: 1024, MiB: 1048576, GiB: 1073741824, TiB: 1099511627776, ns: 1e-9,
    us: 1e-6, ms: 1e-3, s: 1 };
  return Number(match[1].replace(/_/g, '')) * (match[2] ? sizes[match[2]] : 1);
};

// The number that a row has in the chart, with its interval.
const pointOf = (row) => {
  if (!state.isAbsolute) {
    if (row.isBaseline) return { y: 1, low: null, high: null };
    return row.of && row.of.ratio !== null ? { y: row.of.ratio, low: row.of.low, high: row.of.high } : { y: null };
  }
  const present = row.rounds.filter((of) => of !== null);
  return { y: row.median, low: present.length > 1 ? min(...present) : null, high: present.length > 1 ? max(...present) : null };
};

const showChart = () => {
  const run = runNow();
  const metric = run.metrics[state.m];
  const placed = rows.map((row, rank) => ({ row, rank, ...pointOf(row) })).filter((of) => of.y !== null && Number.isFinite(of.y));
  const isLog = state.isLog && placed.every((of) => of.y > 0);
  const operation = run.operations[state.o] === 'all' ? '' : ` of ${run.operations[state.o]}`;
  const title = `${state.isAbsolute ? titled(metric) : metric.title}${operation}${state.isAbsolute ? '' : `, relative to ${baselineNow()}`} (${betterNow()})`;
  const format = (of) => (state.isAbsolute ? short(of, metric.unit) : `${digits(of)}×`);
  const values = { title, isLog, format, keep: state.isAbsolute ? [] : [1] };
  const spec = {
    x: { title: 'rank in the order of the table', format: (of) => (Number.isInteger(of) && of > 0 ? String(of) : '') }, y: values,
    off: state.off, zoom: state.zoom, onZoom: (zoom) => set({ zoom }, true),
    onToggle: (name) => {
      const off = new Set(state.off);
      if (!off.delete(name)) off.add(name);
      set({ off }, true);
    },
    tip: (point) => tipOf(point.row), onPick: (point) => openRow(point.row),
    label: `${titleNow()}: ${placed.length} configurations against ${baselineNow()}`,
  };
  const kindOf = (row) => (row.isBaseline ? 'baseline' : row.of ? row.of.verdict : '');
  const byVerdict = (points) => {
    const kinds = Object.keys(VERDICT_COLORS).filter((kind) => points.some((of) => kindOf(of.row) === kind));
    const limits = new Set(points.filter((of) => kindOf(of.row) === 'equivalent').map((of) => of.row.limit));
    const nameOf = (kind) => (kind === 'equivalent' ? `within the threshold${limits.size === 1 ? ` of ${percent([...limits][0])}` : ''}` : kind);
    return kinds.map((kind) => ({ name: nameOf(kind) || 'not compared', key: kind, color: VERDICT_COLORS[kind],
      points: points.filter((of) => kindOf(of.row) === kind) }));
  };
  const [kind, name] = [state.chart.split(':')[0], state.chart.slice(state.chart.indexOf(':') + 1)];
  let caption = state.isAbsolute ? 'Points are medians; whiskers show the range from the smallest to the largest trial.'
    : 'Points are median ratios of paired rounds; whiskers are 95 % confidence intervals.';
  if (kind === 'factors') {
    const onPick = (at, of) => set({ filters: new Map([...state.filters, [at, new Set([of])]]) });
    drawMultiples(parts.chart, run, placed, { values, mark: state.isAbsolute ? null : 1, label: titleNow(), onPick });
    parts.caption.textContent = 'Points are medians over the configurations with a value; whiskers are their quartiles. Click a point to show only its configurations.';
    parts.reset.hidden = true;
    return;
  }
  if (kind === 'by') {
    const at = run.swept.findIndex((of) => of.path === name);
    const texts = distinctOf(run, at).filter((of) => of !== '');
    const sizes = texts.map(sizeOf);
    const isNumeric = sizes.every((of) => of !== null);
    const isWide = isNumeric && min(...sizes) > 0 && max(...sizes) / min(...sizes) >= 16;
    spec.x = { title: run.swept[at].title, isLog: isWide, format: digits,
      ticks: isNumeric && texts.length > 12 ? null : texts.map((of, place) => [isNumeric ? sizes[place] : place, of]),
      ends: isNumeric ? null : [-0.5, texts.length - 0.5] };
    const names = new Map();
    for (const of of placed) {
      const { swept } = run.cells[of.row.cell];
      if (swept[at] === '') continue;
      const others = swept.filter((_, other) => other !== at).filter(Boolean).join(', ');
      const series = others || metric.title;
      if (!names.has(series)) names.set(series, []);
      names.get(series).push({ ...of, x: isNumeric ? sizeOf(swept[at]) : texts.indexOf(swept[at]) });
    }
    spec.series = [...names].map(([series, points]) => ({ name: series, isLine: isNumeric, points: points.sort((a, b) => a.x - b.x) }));
  } else if (kind === 'against') {
    const other = run.metrics.findIndex((of) => of.name === name);
    const all = run.operations.indexOf('all');
    const matrix = findMatrix(run.numbers, { phase: state.p, operation: state.o, metric: other })
      || findMatrix(run.numbers, { phase: state.p, operation: all, metric: other });
    const across = run.metrics[other];
    const points = placed.map((of) => ({ ...of, x: matrix && medianOf(roundsAt(run, state.n, matrix.cells[of.row.cell]).filter((it) => it !== null)) }))
      .filter((of) => of.x !== null);
    spec.x = { title: `${titled(across)} (${{ neither: 'neither higher nor lower is better' }[across.better] || `${across.better} is better`})`,
      isLog: state.isLog && points.every((of) => of.x > 0), format: (of) => short(of, across.unit) };
    spec.series = byVerdict(points);
    if (metric.better !== 'neither' && across.better !== 'neither' && points.length > 1) {
      const sign = (better) => (better === 'higher' ? -1 : 1);
      const ordered = [...points].sort((a, b) => sign(across.better) * (a.x - b.x) || sign(metric.better) * (a.y - b.y));
      let best = Infinity;
      spec.front = ordered.filter((of) => sign(metric.better) * of.y < best && ((best = sign(metric.better) * of.y), true));
      caption += ' The line is the Pareto front: for each point on the line, no other point is better in both metrics.';
    }
  } else if (placed.length <= MOST_BARS) {
    const ticks = [];
    const points = placed.map((of, at) => {
      const { name, label, heading } = of.row;
      if (isGrouped() && (!at || placed[at - 1].row.heading !== heading)) ticks.push([ticks.length, heading, true]);
      ticks.push([ticks.length, isGrouped() ? name : label]);
      return { ...of, x: of.y, y: ticks.length - 1 };
    });
    spec.isAcross = true;
    spec.x = values;
    spec.y = { ticks, ends: [ticks.length - 0.5, -0.5] };
    spec.series = byVerdict(points);
  } else {
    // In the order of the experiment, a large sweep shows nothing; in the order of its numbers, it shows how many are better.
    const isSorted = !['best', 'order'].includes(state.sort[0]);
    if (!isSorted) spec.x.title = 'rank by number';
    const ranked = isSorted ? placed : [...placed].sort((a, b) => a.y - b.y);
    spec.series = byVerdict(ranked.map((of, rank) => ({ ...of, x: rank + 1 })));
  }
  const floor = max(0, ...rows.map((row) => row.floor));
  const bases = [...new Set(rows.map((row) => row.baseMedian).filter((of) => of))];
  const middle = state.isAbsolute ? (bases.length === 1 ? bases[0] : null) : 1;
  spec.mark = middle;
  if (floor > 0 && middle !== null) {
    spec.band = { axis: spec.isAcross ? 'x' : 'y', low: middle / (1 + floor), high: middle * (1 + floor), text: 'noise floor (two trials of the baseline)' };
    caption += ' The band is the noise floor, from two trials of the baseline.';
  }
  drawChart(parts.chart, spec);
  parts.caption.textContent = `${caption} Drag to zoom.`;
  parts.reset.hidden = !state.zoom;
};

// The table as rows of texts, with the numbers to the last digit where `isExact`.
const tableTexts = (isExact) => {
  const run = runNow();
  const metric = run.metrics[state.m];
  const number = (of) => (of == null ? '' : String(of));
  if (!isExact) {
    const head = ['configuration', titled(metric), 'vs baseline', '95 % CI', 'trials', 'verdict'];
    return [head, ...rows.map((row) => {
      const change = row.of ? changeOf(row.of, row.baseMedian, metric) : { short: '(baseline)', range: '', word: '' };
      return [row.heading ? `${row.heading}: ${row.label}` : row.label, value(row.median, metric.unit), `${change.short} ${change.word}`.trim(), change.range, String(row.n),
        row.of ? [wordOf(row), ...row.doubts].join(': ') : ''];
    })];
  }
  const head = ['experiment', 'within', 'configuration', ...run.swept.map(({ path }) => path), 'phase', 'operation', 'metric', 'baseline', 'value',
    'ratio', 'ratio_low', 'ratio_high', 'p_value', 'trials', 'verdict', 'doubt'];
  return [head, ...rows.map((row) => [run.name, row.heading, row.label, ...run.cells[row.cell].swept, run.phases[state.p], run.operations[state.o],
    metric.name, row.baseline === null ? '' : run.cells[row.baseline].label, number(row.median), ...(row.of
      ? [number(row.of.ratio), number(row.of.low), number(row.of.high), number(row.of.p), number(row.of.n), row.of.verdict, row.doubts.join('; ')]
      : ['', '', '', '', String(row.n), '', ''])])];
};

const asMarkdown = () => {
  const [head, ...body] = tableTexts(false).map((line) => line.map((of) => of.replace(/\|/g, '\\|')));
  const rule = head.map((_, at) => (at > 0 && at < 5 ? '---:' : '---'));
  return `${titleNow()}\n\n${[head, rule, ...body].map((line) => `| ${line.join(' | ')} |`).join('\n')}\n`;
};

const csvCell = (of) => (/[",]/.test(of) ? ['', of.split('"').join('""'), ''].join('"') : of);

const csvOf = (lines) => lines.map((line) => `${line.map(csvCell).join(',')}\n`).join('');

const asCsv = () => csvOf(tableTexts(true));

// The number of every trial of the rows that are shown.
const trialsCsv = () => {
  const run = runNow();
  const lines = rows.flatMap((row) => row.rounds.map((of, at) => (of === null ? null
    : [run.name, String(run.cells[row.cell].number), row.label, String(run.rounds[at]), run.phases[state.p], run.operations[state.o], String(of)])))
    .filter(Boolean);
  return csvOf([['experiment', 'cell', 'label', 'trial', 'phase', 'operation', run.metrics[state.m].name], ...lines]);
};

const copy = async (text, what) => {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = el('textarea', { style: 'position:fixed;opacity:0' });
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand('copy');
    area.remove();
  }
  parts.status.textContent = `${what} is in the clipboard.`;
};

const download = (name, text) => {
  const link = el('a', { href: URL.createObjectURL(new Blob([text], { type: 'text/csv' })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
};

// Whether the best rows are first in the falling order of a column.
const isBetterDown = (key) => ['value', 'ratio', 'ci'].includes(key) && runNow().metrics[state.m].better === 'higher';

// The parts of the page that need the script.
const build = () => {
  const chip = (text, onclick, title) => button({ class: 'chip', onclick, title, text });
  parts.controls = el('div', { class: 'controls', role: 'region', 'aria-label': 'Selection' });
  parts.title = el('h2', {});
  parts.status = el('p', { class: 'status', role: 'status' });
  parts.note = el('p', { class: 'note' });
  parts.chart = el('div', { class: 'chart' });
  parts.caption = el('figcaption', {});
  parts.reset = chip('reset zoom', () => set({ zoom: null }, true));
  parts.figure = el('figure', {}, parts.chart, el('div', { class: 'below' }, parts.caption, parts.reset));
  parts.heads = HEADS.map(([key, text]) => el('th', { scope: 'col', 'data-key': key, class: ['p', 'n'].includes(key) ? 'wide' : null },
    button({ onclick: () => set({ sort: [key, state.sort[0] === key ? !state.sort[1] : isBetterDown(key)] }, true), text })));
  parts.tbody = el('tbody', {});
  parts.table = el('table', { class: 'rows', 'aria-label': 'Configurations' },
    el('thead', {}, el('tr', { 'aria-rowindex': 1 }, ...parts.heads, el('th', { scope: 'col' }, el('span', { class: 'hidden', text: 'baseline' })))), parts.tbody);
  parts.scroll = el('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Table of configurations', onscroll: () => requestAnimationFrame(fillTable) },
    parts.table);
  const tools = el('div', { class: 'tools' },
    chip('table order', () => set({ sort: ['order', false] }, true), 'Order of the experiment'),
    chip('copy as Markdown', () => copy(asMarkdown(), 'The table as Markdown')),
    chip('copy as CSV', () => copy(asCsv(), 'The table as CSV')),
    chip('download trials', () => download(`${runNow().name}-trials.csv`, trialsCsv()), 'The value of every trial as CSV'),
    chip('copy link', () => copy(location.href, 'The link to this view')));
  return el('section', { class: 'explore', 'aria-label': 'Configurations' }, parts.controls, parts.title, parts.status,
    parts.figure, tools, parts.scroll, parts.note);
};

const moveInTable = (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const row = event.target.closest && event.target.closest('tr[data-at]');
  if (!step || !row) return;
  event.preventDefault();
  const at = min(max(Number(row.dataset.at) + step, 0), rows.length - 1);
  if (parts.scroll.classList.contains('windowed')) {
    const top = at * ROW_HEIGHT;
    const { scrollTop, clientHeight } = parts.scroll;
    if (top < scrollTop) parts.scroll.scrollTop = top;
    if (top + 3 * ROW_HEIGHT > scrollTop + clientHeight) parts.scroll.scrollTop = top + 3 * ROW_HEIGHT - clientHeight;
    fillTable();
  }
  const next = parts.tbody.querySelector(`[data-at="${at}"] button`);
  if (next) next.focus({ preventScroll: parts.scroll.classList.contains('windowed') });
};

// Shows the article of the run, and in it the parts that need the script.
const showRun = (section) => {
  document.querySelectorAll('article.run').forEach((article, at) => {
    article.hidden = at !== state.r;
    if (at !== state.r) return;
    article.querySelector('.live').append(section);
    const plain = article.querySelector('.plain');
    if (plain) plain.hidden = true;
  });
};

const start = () => {
  page = JSON.parse(document.getElementById('data').textContent);
  page.runs.forEach((run, at) => {
    if (!run.folder || page.runs.findIndex((other) => other.folder === run.folder) < at) run.folder = `${run.name} ${at + 1}`;
  });
  if (!page.runs.some((run) => run.numbers.length)) return;
  state = readHash();
  settle();
  const section = build();
  if (page.runs.length > 1) {
    parts.runs = el('nav', { class: 'runs', 'aria-label': 'Results' }, ...page.runs.map((run, r) => button({ class: 'chip',
      'data-run': r, text: run.folder, onclick: () => {
        state = firstState(r);
        settle();
        writeHash();
        showRun(section);
        show();
      } })));
    document.querySelector('main').prepend(parts.runs);
  }
  showRun(section);
  parts.tbody.addEventListener('pointermove', (event) => {
    const row = event.target.closest('tr[data-at]');
    if (row && rows[row.dataset.at] && event.pointerType === 'mouse') showTip(tipOf(rows[row.dataset.at]), event.clientX, event.clientY);
  });
  parts.tbody.addEventListener('pointerleave', hideTip);
  parts.table.addEventListener('keydown', moveInTable);
  addEventListener('hashchange', () => {
    state = readHash();
    settle();
    showRun(section);
    show();
  });
  addEventListener('beforeprint', () => {
    parts.isPrinting = true;
    showTable();
  });
  addEventListener('afterprint', () => {
    parts.isPrinting = false;
    showTable();
  });
  let width = parts.chart.clientWidth;
  new ResizeObserver(() => {
    if (abs(parts.chart.clientWidth - width) < 8) return;
    width = parts.chart.clientWidth;
    if (rows.length) showChart();
  }).observe(parts.chart);
  show();
};
