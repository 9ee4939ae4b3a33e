// The history of metrics: a chart of the series of one metric with its change points, and the comparison of two runs.

const startHistory = () => {
  const past = JSON.parse(document.getElementById('history').textContent);
  const article = document.getElementById('history-page');
  if (!past.experiments.length) return;
  const KEYS = ['experiment', 'machine', 'metric', 'phase', 'base', 'new'];
  const chosen = {};
  const box = {};
  const shortCommit = (run) => run.commit.slice(0, 10);
  const nameOf = (run) => [run.started.replace('T', ' ').replace('Z', ''), shortCommit(run)].filter(Boolean).join(', ');
  const placeOf = (one) => (one.operation === 'all' ? one.phase : `${one.phase}, ${one.operation}`);
  const distinct = (texts) => [...new Set(texts)];
  // All versions of a series form one line. A change of the experiment starts a new version.
  const joined = (all) => {
    const by = new Map();
    for (const one of all) {
      const key = [one.label, one.phase, one.operation, one.metric, one.machine].join('\n');
      const of = by.get(key) || { ...one, values: [], changes: [], levels: [], starts: [] };
      if (one.version > 1 && one.values.length) of.starts.push(one.values[0][0]);
      of.values = [...of.values, ...one.values].sort((a, b) => a[0] - b[0]);
      of.changes = [...of.changes, ...one.changes];
      of.levels = [...of.levels, ...one.levels];
      by.set(key, of);
    }
    return [...by.values()];
  };
  for (const of of past.experiments) of.series = joined(of.series);

  const read = () => {
    const of = new URLSearchParams(location.hash.slice(1));
    for (const key of KEYS) chosen[key] = of.get(`history.${key}`);
  };
  const write = () => {
    const of = new URLSearchParams(location.hash.slice(1));
    for (const key of KEYS) {
      if (chosen[key] === null) of.delete(`history.${key}`);
      else of.set(`history.${key}`, chosen[key]);
    }
    const hash = of.toString();
    history.replaceState(null, '', hash ? `#${hash}` : location.pathname + location.search);
  };
  const choose = (key, of) => {
    chosen[key] = of;
    if (key === 'experiment') chosen.base = chosen.new = null;
    write();
    show();
  };
  const pick = (label, key, options, now) => {
    if (options.length < 2) return null;
    const id = `history-${key}`;
    const select = el('select', { id, onchange: (event) => choose(key, options[event.target.selectedIndex][0]) },
      ...options.map(([of, text]) => el('option', { selected: of === now, text })));
    return el('div', { class: 'choice' }, el('label', { for: id, text: label }), select);
  };
  // Returns the option `wanted` if it exists, and otherwise the first option.
  const oneOf = (options, wanted) => (options.includes(wanted) ? wanted : options[0]);

  const show = () => {
    const names = past.experiments.map((of) => of.name);
    // The experiment with the newest change comes first, and then the one with most runs.
    const newest = [...past.experiments].sort((a, b) => {
      const last = (of) => max(-1, ...of.series.flatMap((one) => one.changes.map((change) => change.run)));
      return last(b) - last(a) || b.runs.length - a.runs.length;
    })[0];
    const experiment = past.experiments[names.indexOf(chosen.experiment)] || newest;
    const machines = distinct(experiment.series.map((one) => one.machine));
    const machine = oneOf(machines, chosen.machine);
    const own = experiment.series.filter((one) => one.machine === machine);
    const changed = own.find((one) => one.changes.length) || own[0];
    const metrics = distinct(own.map((one) => past.metrics[one.metric].name));
    const name = metrics.includes(chosen.metric) ? chosen.metric : past.metrics[changed.metric].name;
    const metric = past.metrics.find((of) => of.name === name);
    const ofMetric = own.filter((one) => past.metrics[one.metric] === metric);
    const phases = distinct(ofMetric.map(placeOf));
    const phase = phases.includes(chosen.phase) ? chosen.phase
      : placeOf(ofMetric.find((one) => one.changes.length) || ofMetric[0]);
    const { runs } = experiment;
    // Only the runs of the machine can be compared.
    const places = distinct(own.flatMap((one) => one.values.map(([run]) => run))).sort((a, b) => a - b);
    const numbers = places.map((at) => String(at + 1));
    const newer = numbers.includes(chosen.new) ? chosen.new : numbers[numbers.length - 1];
    const older = numbers.includes(chosen.base) ? chosen.base : numbers[0];
    const ofRuns = places.map((at) => [String(at + 1), `${at + 1}: ${nameOf(runs[at])}`]);
    box.controls.replaceChildren(...[
      pick('experiment', 'experiment', names.map((of) => [of, of]), experiment.name),
      pick('machine', 'machine', machines.map((of) => [of, of || 'any (counters)']), machine),
      pick('metric', 'metric', metrics.map((of) => [of, past.metrics.find((it) => it.name === of).title]), name),
      pick('phase', 'phase', phases.map((of) => [of, of]), phase),
    ].filter(Boolean));
    box.runs.replaceChildren(...[pick('run', 'base', ofRuns, older), pick('against run', 'new', ofRuns, newer)].filter(Boolean));
    const shown = ofMetric.filter((one) => placeOf(one) === phase);
    const points = (one) => one.values.map(([run, y]) => ({ x: run + 1, y, run: runs[run], one, isHollow: one.starts.includes(run) }));
    const series = shown.map((one, color) => ({ name: one.label, color, isLine: true, points: points(one) }));
    const steps = shown.filter((one) => one.changes.length).map((one) => ({
      name: `${one.label}, level`, color: shown.indexOf(one), isLine: true, isStep: true, isDashed: true, isBare: true,
      points: one.levels.flatMap(([from, to, y]) => [{ x: from + 1, y }, { x: to + 1, y }]),
    }));
    const marked = new Map();
    for (const one of shown)
      for (const change of one.changes) {
        const text = `${one.label} ${change.verdict} since ${nameOf(runs[change.run])}`;
        marked.set(change.run, [...(marked.get(change.run) || []), text]);
      }
    const label = `${metric.title} in phase ${phase}, ${experiment.name}`;
    drawChart(box.chart, {
      series: [...series, ...steps], label,
      x: { title: 'run', format: (of) => (Number.isInteger(of) ? String(of) : ''), ends: [0.5, runs.length + 0.5] },
      y: { title: metric.title, format: (of) => short(of, metric.unit) },
      rules: [...marked].map(([run, texts]) => ({ x: run + 1, text: shortCommit(runs[run]), title: texts.join('\n') })),
      tip: ({ run, y, one }) => (run ? [one.label, `${metric.title}: ${exact(y, metric.unit)}`, nameOf(run)] : [short(y, metric.unit)]),
    });
    box.title.textContent = label;
    box.caption.textContent = marked.size ? 'Vertical lines are change points with their commits. Pale lines are the medians between change points.'
      : 'Points are the medians over the trials of a run. This metric has no change point.';
    if (shown.some((one) => one.starts.length)) box.caption.textContent += ' A hollow point is the first run of a changed experiment.';
    compareRuns(own, Number(older) - 1, Number(newer) - 1);
  };

  // The series with a value in both runs, largest change first.
  const compareRuns = (own, older, newer) => {
    const at = (one, run) => one.values.filter(([of]) => of === run).map(([, value]) => value)[0];
    const rows = own.map((one) => ({ one, before: at(one, older), after: at(one, newer) }))
      // A changed experiment between the two runs makes their values incomparable.
      .filter(({ one, before, after }) => before !== undefined && after !== undefined
        && !one.starts.some((run) => run > min(older, newer) && run <= max(older, newer)));
    const size = ({ before, after }) => (before > 0 && after > 0 ? abs(Math.log(after / before)) : before === after ? 0 : Infinity);
    rows.sort((a, b) => size(b) - size(a));
    const line = ({ one, before, after }) => {
      const metric = past.metrics[one.metric];
      const isBetter = metric.better === 'higher' ? after > before : after < before;
      const isLarge = metric.better !== 'neither' && size({ before, after }) > 0.02;
      const change = before ? `${after >= before ? '+' : '−'}${(abs(after / before - 1) * 100).toFixed(1)} %` : '';
      return el('tr', { class: isLarge ? (isBetter ? 'improved' : 'regressed') : null },
        el('th', { scope: 'row', text: `${one.label}, phase ${placeOf(one)}` }), el('td', { text: metric.title }),
        el('td', { class: 'number', text: value(before, metric.unit) }), el('td', { class: 'number', text: value(after, metric.unit) }),
        el('td', { class: 'number change', text: change }));
    };
    const most = 60;
    box.tbody.replaceChildren(...rows.slice(0, most).map(line));
    box.note.textContent = rows.length > most ? `The ${most} largest changes of ${rows.length} series.`
      : rows.length ? 'One value per run has no confidence interval, so this table gives no verdict.' : 'The two runs have no series in common.';
  };

  box.controls = el('div', { class: 'controls', role: 'region', 'aria-label': 'Series' });
  box.runs = el('div', { class: 'controls', role: 'region', 'aria-label': 'Two runs' });
  box.title = el('h2', {});
  box.chart = el('div', { class: 'chart' });
  box.caption = el('figcaption', {});
  box.tbody = el('tbody', {});
  box.note = el('p', { class: 'note' });
  const heads = ['series', 'metric', 'run', 'against run', 'change'];
  const table = el('table', { class: 'past', 'aria-label': 'Two runs' },
    el('thead', {}, el('tr', {}, ...heads.map((text, at) => el('th', { scope: 'col', text, class: at > 1 ? 'number' : null })))), box.tbody);
  article.querySelector('.live').append(box.controls, box.title, el('figure', {}, box.chart, el('div', { class: 'below' }, box.caption)),
    el('h2', { text: 'Compare two runs' }), box.runs, el('div', { class: 'scroll' }, table), box.note);
  article.querySelector('.plain').hidden = true;
  read();
  show();
  addEventListener('hashchange', () => {
    read();
    show();
  });
  let width = box.chart.clientWidth;
  new ResizeObserver(() => {
    if (abs(box.chart.clientWidth - width) < 8) return;
    width = box.chart.clientWidth;
    show();
  }).observe(box.chart);
};
