// The details of a configuration: its rounds, latencies, course over time, levels and the manifest.

const openDetail = (page, run, state, row, onClose) => {
  const metric = run.metrics[state.m];
  const dialog = el('dialog', { class: 'detail', 'aria-labelledby': 'detail-title' });
  const part = (title, ...children) => el('section', {}, el('h3', { text: title }), ...children);
  const base = row.baseline !== null && !row.isBaseline ? row.baseline : null;
  const cells = base === null ? [row.cell] : [row.cell, base];
  const labels = cells.map((cell) => run.cells[cell].label);
  const head = el('header', {}, el('h2', { id: 'detail-title', text: row.label }),
    el('button', { type: 'button', class: 'close', 'aria-label': 'Close details', onclick: () => dialog.close(), text: '✕' }));
  const facts = el('dl', { class: 'facts' });
  const fact = (name, text) => text && facts.append(el('div', {}, el('dt', { text: name }), el('dd', { text })));
  run.swept.forEach(({ path }, at) => fact(path, run.cells[row.cell].swept[at]));
  fact(titled(metric), value(row.median, metric.unit));
  if (row.of && row.of.ratio !== null) {
    const change = changeOf(row.of, row.baseMedian, metric);
    fact(`against ${labels[1]}`, `${change.short}${change.range ? ` (95 % CI ${change.range})` : ''}, ${wordOf(row)}`);
    fact('ratio', `${digits(row.of.ratio)}${row.of.low === null || run.is_counted ? '' : ` (${digits(row.of.low)} to ${digits(row.of.high)})`}`);
    fact('p', pText(row.of.p));
  }
  if (row.told) fact('differs in', row.told.differs_in);
  row.doubts.forEach((doubt) => fact('note', doubt));
  dialog.append(head, facts);
  const later = [];
  const chart = (title, spec) => {
    const box = el('div', { class: 'chart' });
    dialog.append(part(title, box));
    later.push(() => drawChart(box, spec));
  };
  if (!run.is_counted && run.rounds.length > 1) chart(`${metric.title} by round`, roundsChart(run, state, row, cells, labels));
  for (const spec of latencyCharts(page, run, state, cells, labels)) chart(spec.heading, spec);
  for (const spec of courseCharts(run, state, cells, labels)) chart(spec.heading, spec);
  const levels = levelTable(run, state, row.cell);
  if (levels) dialog.append(part(`Levels after phase ${run.phases[state.p]}`, levels));
  const folded = (title, text) => el('details', {}, el('summary', { text: title }), el('pre', { tabindex: 0, text }));
  const { resolved, ...manifest } = run.manifest;
  dialog.append(part('Manifest', folded('Experiment, resolved', resolved || ''),
    folded('Machine, program and run', JSON.stringify(manifest, null, 1))));
  dialog.addEventListener('close', () => {
    dialog.remove();
    onClose();
  });
  dialog.addEventListener('click', (event) => event.target === dialog && dialog.close());
  document.body.append(dialog);
  dialog.showModal();
  later.forEach((draw) => draw());
};

const roundsChart = (run, state, row, cells, labels) => {
  const matrix = findMatrix(run.numbers, { phase: state.p, operation: state.o, metric: state.m });
  const metric = run.metrics[state.m];
  const series = cells.map((cell, at) => ({
    name: labels[at], isLine: true, color: at,
    points: roundsOf(matrix.cells[cell], run.rounds)
      .map((y, round) => ({ x: run.rounds[round] + 1, y, name: labels[at] })).filter((point) => point.y !== null),
  }));
  return {
    series, height: 220, label: `${metric.title} of ${labels.join(' and ')} in each round`,
    x: { title: 'round', format: (of) => (Number.isInteger(of) ? String(of) : '') },
    y: { title: titled(metric), format: (of) => short(of, metric.unit) },
    tip: (point) => [point.name, `round ${point.x}: ${exact(point.y, metric.unit)}`],
  };
};

const latencyCharts = (page, run, state, cells, labels) => {
  const of = run.latencies.filter((it) => it.phase === state.p && cells.includes(it.cell));
  const operation = run.operations[state.o];
  const tags = [...new Set(of.map((it) => it.tag))].filter((tag) => tag.split(':')[0] === operation);
  return tags.map((tag) => {
    const series = cells.flatMap((cell, at) => {
      const it = of.find((one) => one.cell === cell && one.tag === tag);
      if (!it) return [];
      const points = page.criteria.quantiles.map((share, place) => ({ x: it.ns[place], y: min(share, 0.99999), share,
        name: labels[at] }));
      return [{ name: labels[at], isLine: true, isBare: true, color: at, points: points.map((point) => ({ ...point,
        y: 1 / max(1 - point.y, 1e-5) })) }];
    });
    const shares = [[1, '0 %'], [2, '50 %'], [10, '90 %'], [100, '99 %'], [1000, '99.9 %'], [10000, '99.99 %']];
    return {
      heading: `Latencies of ${tag.replace(':response', ', response times')}`,
      series, height: 260, label: `Share of operations up to each latency, ${tag}`,
      x: { title: 'latency', isLog: true, format: (it) => short(it, 'ns') },
      y: { title: 'share of operations', isLog: true, ticks: shares, ends: [1, 1e5], format: (it) => it },
      tip: (point) => [point.name, `${(point.share * 100).toFixed(2)} % took at most ${short(point.x, 'ns')}`],
    };
  });
};

const courseCharts = (run, state, cells, labels) => run.timeline_columns.slice(1).flatMap((column, number) => {
  const series = cells.flatMap((cell, at) => {
    const courses = run.timelines.filter((it) => it.cell === cell && it.phase === state.p);
    return courses.slice(0, 6).map((course) => ({
      name: courses.length > 1 ? `${labels[at]}, trial ${course.trial + 1}` : labels[at], isLine: true, isBare: true,
      color: at, isDashed: course.trial > 0,
      points: course.rows.map((it) => ({ x: it[0], y: it[number + 1], name: labels[at], trial: course.trial }))
        .filter((point) => point.x !== null && point.y !== null),
    }));
  }).filter((it) => it.points.length > 1);
  if (!series.length) return [];
  return [{
    heading: `${column.title[0].toUpperCase()}${column.title.slice(1)} over time`, series, height: 220,
    label: `${column.title} over the time of phase ${run.phases[state.p]}`,
    x: { title: 'time since the phase began', format: (it) => short(it, 's') },
    y: { title: titled(column), format: (it) => short(it, column.unit) },
    tip: (point) => [`${point.name}, trial ${point.trial + 1}`, `${short(point.x, 's')}: ${exact(point.y, column.unit)}`],
  }];
});

const levelTable = (run, state, cell) => {
  const course = run.levels.find((it) => it.cell === cell && it.phase === state.p);
  if (!course) return null;
  const used = run.level_columns.map((_, at) => at).filter((at) => course.rows.some((row) => row[at] !== null));
  const most = used.map((at) => max(...course.rows.map((row) => row[at] || 0)));
  const bar = (of, at) => (at && most[at] ? `--share:${(((of || 0) / most[at]) * 100).toFixed(1)}%` : null);
  return el('div', { class: 'scroll' }, el('table', { class: 'levels' },
    el('thead', {}, el('tr', {}, ...used.map((at) => el('th', { scope: 'col', text: run.level_columns[at].title })))),
    el('tbody', {}, ...course.rows.map((row) => el('tr', {}, ...used.map((at, place) => {
      const text = value(row[at], run.level_columns[at].unit);
      return place ? el('td', { class: 'bar', style: bar(row[at], place), text }) : el('th', { scope: 'row', text: `L${row[at]}` });
    }))))));
};
