// Small multiples: a chart for each swept factor, with the configurations at each of its values.

// The factors of a run with several values, which are in the order of their size where all have one.
const factorsOf = (run) => run.swept.map(({ title }, at) => {
  const values = distinctOf(run, at).filter((of) => of !== '');
  if (values.every((of) => sizeOf(of) !== null)) values.sort((a, b) => sizeOf(a) - sizeOf(b));
  return { at, title, values };
}).filter(({ values }) => values.length > 1);

// A quantile of ascending numbers, between two of them in proportion.
const quantileOf = (numbers, share) => {
  const at = (numbers.length - 1) * share;
  const low = Math.floor(at);
  return numbers[low] + (at - low) * ((numbers[low + 1] ?? numbers[low]) - numbers[low]);
};

// The points of a factor: the median and the quartiles over the configurations with each of its values.
const pointsOf = (run, factor, placed) => {
  const numbers = new Map(factor.values.map((of) => [of, []]));
  for (const { row, y } of placed) {
    const at = numbers.get(run.cells[row.cell].swept[factor.at]);
    if (at) at.push(y);
  }
  return factor.values.map((of, x) => {
    const sorted = ascending(numbers.get(of));
    if (!sorted.length) return null;
    const [low, y, high] = [0.25, 0.5, 0.75].map((share) => quantileOf(sorted, share));
    return { x, y, low, high, value: of, count: sorted.length };
  }).filter((of) => of);
};

// Draws the charts with one scale of numbers. `values` is the axis of numbers; a click gives the place of a factor and a value.
const drawMultiples = (box, run, placed, { values, mark, label, onPick }) => {
  const all = factorsOf(run).map((factor) => ({ factor, points: pointsOf(run, factor, placed) }));
  const y = { ...values, ends: endsOf(all.flatMap(({ points }) => points.flatMap((of) => [of.low, of.y, of.high])), values.isLog, values.keep) };
  const boxes = all.map(() => el('div', {}));
  box.replaceChildren(el('div', { class: 'multiples' }, ...boxes));
  all.forEach(({ factor, points }, at) => drawChart(boxes[at], {
    series: [{ name: factor.title, points, isLine: true }],
    x: { title: factor.title, format: String, ticks: factor.values.map((of, place) => [place, of]), ends: [-0.5, factor.values.length - 0.5] },
    y, mark, height: 240,
    tip: (point) => [`${factor.title} = ${point.value}`, `median ${values.format(point.y)} of ${point.count} configurations`,
      `quartiles ${values.format(point.low)} and ${values.format(point.high)}`],
    onPick: (point) => onPick(factor.at, point.value),
    label: `${label}, by ${factor.title}`,
  }));
};
