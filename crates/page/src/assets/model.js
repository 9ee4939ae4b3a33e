// Computes the rows of a selection. A row compares a configuration with its baseline.

// The numbers of a configuration by round.
const roundsOf = (numbers, rounds) =>
  numbers === null ? new Array(rounds.length).fill(null)
    : typeof numbers === 'number' ? new Array(rounds.length).fill(numbers) : numbers;

const findMatrix = (matrices, of) =>
  matrices.find((it) => it.phase === of.phase && it.operation === of.operation && it.metric === of.metric);

// The swept values in which compared configurations differ.
const variantOf = (run, cell) =>
  run.cells[cell].swept.filter((_, at) => !run.within.includes(at)).join('\n');

// The index of the baseline of a group: the selected configuration, or the configuration with its swept values.
const baselineIn = (run, group, chosen) => {
  if (chosen == null || !run.cells[chosen]) return group.baseline;
  if (group.cells.includes(chosen)) return chosen;
  const variant = variantOf(run, chosen);
  const same = group.cells.find((cell) => variantOf(run, cell) === variant);
  return same === undefined ? null : same;
};

const spreadOf = (values) => {
  if (values.length < 2) return null;
  const mean = values.reduce((sum, of) => sum + of, 0) / values.length;
  const variance = values.reduce((sum, of) => sum + (of - mean) ** 2, 0) / (values.length - 1);
  return mean ? Math.sqrt(variance) / abs(mean) : null;
};

// The cost columns that the doubts of verdicts name. Two configurations are comparable only if at least one of these
// columns is about equal.
const costsOf = (run) => {
  const names = new Set();
  for (const { doubt } of run.verdicts)
    if (doubt.startsWith('no rival')) for (const part of doubt.split('; ').slice(1)) names.add(part.split(' ')[0]);
  return [...names].map((name) => run.metrics.findIndex((of) => of.name === name)).filter((at) => at >= 0);
};

const areAlike = (run, of, costs, one, other) => {
  if (!costs.length) return true;
  const all = run.operations.indexOf('all');
  return costs.some((metric) => {
    const matrix = findMatrix(run.numbers, { phase: of.phase, operation: all, metric });
    const [a, b] = [one, other].map((cell) =>
      matrix ? medianOf(roundsOf(matrix.cells[cell], run.rounds).filter((it) => it !== null)) : null);
    return a !== null && b !== null && abs(a - b) <= 0.1 * max(abs(a), abs(b));
  });
};

// The smallest difference that the rate search of a phase can detect; 0 for other numbers.
const resolutionOf = (run, of) => max(0, ...run.verdicts
  .filter((it) => it.phase === of.phase && it.metric === of.metric)
  .map((it) => (it.delta > (it.noise_floor || 0) && it.delta > run.threshold ? it.delta : 0)));

// The numbers of a configuration by round. With a selected machine, only the rounds of this machine.
const roundsAt = (run, machine, numbers) => {
  const rounds = roundsOf(numbers, run.rounds);
  if (machine == null) return rounds;
  const own = new Set(run.machines[machine].rounds);
  return rounds.map((it, at) => (own.has(at) ? it : null));
};

// The steps that compute the rows of a selection, a generator so that a large table does not block the page. Each step
// is a configuration; the value at the end is the list of rows.
function* computeRows(page, run, of, chosen, keeps) {
  const matrix = findMatrix(run.numbers, of);
  const metric = run.metrics[of.metric];
  const numbersOf = (numbers) => roundsAt(run, of.machine, numbers);
  const isWhole = of.machine == null;
  const again = findMatrix(run.noise, of);
  const [resolution, costs] = [resolutionOf(run, of), costsOf(run)];
  const verdicts = new Map(run.verdicts
    .filter((it) => isWhole && it.phase === of.phase && it.operation === of.operation && it.metric === of.metric)
    .map((it) => [`${it.group} ${it.candidate} ${it.baseline}`, it]));
  const marks = new Map();
  for (const mark of run.marks.filter((it) => it.phase === of.phase))
    marks.set(mark.cell, [...(marks.get(mark.cell) || []), mark]);
  const rows = [];
  let order = 0;
  for (const [number, group] of run.groups.entries()) {
    const baseline = matrix ? baselineIn(run, group, chosen) : null;
    const base = baseline === null ? null : numbersOf(matrix.cells[baseline]);
    const twice = again && group.cells.map((cell) => [cell, again.cells[cell]]).find(([, it]) => it !== null);
    const floor = twice && !run.is_counted
      ? noiseFloor(numbersOf(matrix.cells[twice[0]]), numbersOf(twice[1]), page) : 0;
    const delta = max(run.threshold, floor, resolution);
    const name = floor >= delta ? 'noise floor' : resolution >= delta ? 'precision of the rate search' : 'threshold';
    const baseMedian = base && medianOf(base.filter((it) => it !== null));
    for (const [place, cell] of group.cells.entries()) {
      order++;
      if (!matrix || !keeps(cell)) continue;
      const rounds = numbersOf(matrix.cells[cell]);
      const present = rounds.filter((it) => it !== null);
      const row = {
        group: number, cell, order, rounds, n: present.length, median: medianOf(present), spread: spreadOf(present),
        label: run.cells[cell].label, name: group.names[place] || run.cells[cell].label, heading: group.heading, baseline, baseMedian, floor,
        marks: marks.get(cell) || [], isBaseline: cell === baseline, of: null, doubts: [],
      };
      if (base && cell !== baseline) {
        row.of = run.is_counted ? compareExact(baseMedian, row.median, metric.better, { delta, name })
          : compareRounds(base, rounds, metric.better, { delta, name }, page);
        const doubt = row.marks.concat(marks.get(baseline) || []).find((mark) => mark.is_doubt);
        const told = verdicts.get(`${number} ${cell} ${baseline}`);
        row.limit = min((told && told.delta) || delta, WIDEST_EQUIVALENCE);
        if (told) row.told = told;
        else if (doubt) row.given = ['inconclusive', doubt.text];
        else if (!areAlike(run, of, costs, cell, baseline)) row.given = ['inconclusive', 'no rival: the costs differ'];
      }
      rows.push(row);
      yield rows.length;
    }
  }
  adjust(rows.map((row) => row.of).filter((it) => it), page.criteria);
  for (const row of rows) {
    if (!row.of) continue;
    // The run corrected for all of its comparisons, so its own verdict stands.
    if (row.told) Object.assign(row.of, { verdict: row.told.verdict, doubt: row.told.doubt, p: row.told.p });
    if (row.given) [row.of.verdict, row.of.doubt] = row.given;
  }
  for (const row of rows) {
    row.doubts = [...(row.of && row.of.doubt ? [row.of.doubt] : []), ...row.marks.map((mark) => mark.text)];
    if (run.cells[row.cell].has_wrong_answers) row.doubts.push('wrong answers, so its measurements are ignored');
  }
  return rows;
}

// The keys of orders. The order `best` has the best value of each group first.
const SORTS = {
  best: (row) => row.median,
  order: (row) => row.order,
  label: (row) => `${row.heading} ${row.label}`,
  value: (row) => row.median,
  ratio: (row) => (row.isBaseline ? 1 : row.of && row.of.ratio),
  ci: (row) => (row.isBaseline ? 1 : row.of && row.of.low),
  p: (row) => row.of && row.of.p,
  n: (row) => row.n,
  verdict: (row) => (row.of ? ['improved', 'equivalent', 'inconclusive', 'regressed'].indexOf(row.of.verdict) : 1),
};

// The rows in an order; those without a value are last.
const sortRows = (rows, [key, isDown], better) => {
  const isBest = key === 'best';
  const get = isBest && better === 'neither' ? SORTS.order : SORTS[key];
  const isFalling = isBest ? better === 'higher' : isDown;
  const compare = (a, b) => {
    if (isBest && a.group !== b.group) return a.group - b.group;
    const [x, y] = [get(a), get(b)];
    const [hasX, hasY] = [x != null, y != null];
    if (!hasX || !hasY) return hasY - hasX || a.order - b.order;
    const by = typeof x === 'string' ? x.localeCompare(y, undefined, { numeric: true }) : x - y;
    return (isFalling ? -by : by) || a.order - b.order;
  };
  return [...rows].sort(compare);
};
