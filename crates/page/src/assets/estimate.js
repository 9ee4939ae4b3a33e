// Ratios of paired rounds, their confidence intervals and verdicts, as the crate `measure` computes them.

// All parts of the script share one scope.
const { abs, ceil, exp, max, min } = Math;

const median = (ascending) => {
  const half = ascending.length >> 1;
  return ascending.length % 2 ? ascending[half] : (ascending[half - 1] + ascending[half]) / 2;
};

const ascending = (values) => Float64Array.from(values).sort();

const medianOf = (values) => (values.length ? median(ascending(values)) : null);

// The logarithm of candidate / baseline; null where a number has none.
const logRatio = (base, own) => {
  if (!(Number.isFinite(base) && base >= 0 && Number.isFinite(own) && own >= 0)) return null;
  return base === own ? 0 : Math.log(own) - Math.log(base);
};

// The interval of the median of ascending values. `draws` has the two positions of each median that the bootstrap
// draws, and how often it draws it.
const intervalOf = (values, draws, criteria) => {
  const medians = draws.map(([low, high, times]) => [(values[low] + values[high]) / 2, times]);
  medians.sort((a, b) => a[0] - b[0]);
  const total = criteria.resamples;
  const skipped = min(Math.floor(((1 - criteria.confidence) / 2) * total), Math.floor((total - 1) / 2));
  const at = (place) => {
    let seen = 0;
    for (const [value, times] of medians) if ((seen += times) > place) return value;
    return medians[medians.length - 1][0];
  };
  return [at(skipped), at(total - 1 - skipped)];
};

const logGamma = (x) => {
  const terms = [76.18009172947146, -86.50532032941677, 24.01409824083091, -1.231739572450155, 0.001208650973866179,
    -0.000005395239384953];
  const shifted = x + 5.5;
  let sum = 1.000000000190015;
  terms.forEach((term, at) => (sum += term / (x + 1 + at)));
  return (x + 0.5) * Math.log(shifted) - shifted + Math.log((2.5066282746310005 * sum) / x);
};

// The regularized incomplete beta function, by its continued fraction (modified method of Lentz).
const beta = (x, a, b) => {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - beta(1 - x, b, a);
  const tiny = 1e-300;
  const apart = (value) => (abs(value) < tiny ? tiny : value);
  let c = 1;
  let d = 1 / apart(1 - ((a + b) * x) / (a + 1));
  let fraction = d;
  for (let m = 1; m < 300; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / apart(1 + even * d);
    c = apart(1 + even / c);
    fraction *= d * c;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / apart(1 + odd * d);
    c = apart(1 + odd / c);
    fraction *= d * c;
    if (abs(d * c - 1) < 1e-15) break;
  }
  const front = logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log(1 - x);
  return (exp(front) * fraction) / a;
};

// The p-value of "the ratio is 1": Student's test of paired differences, two-sided.
const pValue = (logs) => {
  const count = logs.length;
  if (count < 2) return 1;
  let mean = 0;
  for (const log of logs) mean += log / count;
  let squares = 0;
  for (const log of logs) squares += (log - mean) ** 2;
  const error = Math.sqrt(squares / (count - 1) / count);
  if (error === 0 || !Number.isFinite(mean)) return mean === 0 ? 1 : 0;
  const t = mean / error;
  return beta((count - 1) / (count - 1 + t * t), (count - 1) / 2, 0.5);
};

// The largest difference that still counts as no difference.
const WIDEST_EQUIVALENCE = 0.1;

const percent = (share) => `${(share * 100).toFixed(1)}%`;

// The verdict on the logarithms of a ratio and its interval, and the reason for a doubt. A threshold has the smallest
// difference that counts, `delta`, and its origin, `name`.
const judge = (middle, low, high, better, { delta, name }) => {
  const margin = Math.log1p(delta);
  const equal = Math.log1p(min(delta, WIDEST_EQUIVALENCE));
  if (-equal <= low && high <= equal) return ['equivalent', ''];
  if (!(low > 0 || high < 0)) return ['inconclusive', 'the confidence interval (CI) includes the ratio 1; more trials may narrow the CI'];
  if (abs(middle) <= margin) {
    const limit = max(abs(low), abs(high)) > margin ? 'it' : `${percent(WIDEST_EQUIVALENCE)}, the largest difference that counts as equivalent`;
    return ['inconclusive', `the difference is smaller than the ${name} of ${percent(delta)}, but the confidence interval (CI) extends beyond ${limit}`];
  }
  if (better === 'neither') return ['inconclusive', 'the values differ, but neither higher nor lower values of this metric are better'];
  return [middle > 0 === (better === 'higher') ? 'improved' : 'regressed', ''];
};

const doubtful = (n, doubt, ratio = null) =>
  ({ verdict: 'inconclusive', doubt, ratio, low: null, high: null, p: null, n });

const tooFew = (n, criteria) => {
  if (!n) return 'no trial has values for both the baseline and the candidate';
  return `${n} ${n === 1 ? 'trial is' : 'trials are'} too few for a verdict; run at least ${criteria.fewest_rounds} trials`;
};

// Compares numbers by round; null where a round has none.
const compareRounds = (base, own, better, threshold, page) => {
  const { criteria, draws } = page;
  const logs = [];
  for (let at = 0; at < base.length; at++) {
    if (base[at] == null || own[at] == null) continue;
    const log = logRatio(base[at], own[at]);
    if (log === null) return doubtful(logs.length, 'a value of the baseline or the candidate is negative, so the ratio is undefined');
    logs.push(log);
  }
  const n = logs.length;
  if (!n) return doubtful(0, tooFew(0, criteria));
  const sorted = ascending(logs);
  const isConstant = sorted[0] === sorted[n - 1];
  if (!isConstant && !(Number.isFinite(sorted[0]) && Number.isFinite(sorted[n - 1])))
    return doubtful(n, 'the baseline or the candidate is 0 in some trials, so the ratio is undefined');
  const middle = median(sorted);
  if (n < criteria.fewest_rounds) return doubtful(n, tooFew(n, criteria), exp(middle));
  const [low, high] = isConstant ? [sorted[0], sorted[0]] : intervalOf(sorted, draws[n], criteria);
  const p = pValue(sorted);
  let [verdict, doubt] = judge(middle, low, high, better, threshold);
  if ((verdict === 'improved' || verdict === 'regressed') && p > 1 - criteria.confidence)
    [verdict, doubt] = ['inconclusive', 'chance alone may cause this difference; more trials may decide'];
  return { verdict, doubt, ratio: exp(middle), low: exp(low), high: exp(high), p, n };
};

// Compares two exact numbers.
const compareExact = (base, own, better, threshold) => {
  const log = base === null || own === null ? null : logRatio(base, own);
  if (log === null) return doubtful(base === null || own === null ? 0 : 1, 'one side has no value');
  const [verdict, doubt] = judge(log, log, log, better, threshold);
  return { verdict, doubt, ratio: exp(log), low: exp(log), high: exp(log), p: null, n: 1 };
};

// Corrects the p-values of comparisons for their number (Holm), and withdraws verdicts that chance explains.
const adjust = (comparisons, criteria) => {
  const family = comparisons.filter((of) => of.p !== null).sort((a, b) => a.p - b.p);
  let largest = 0;
  family.forEach((of, rank) => {
    of.p = largest = max(largest, min(of.p * (family.length - rank), 1));
    if (of.verdict !== 'inconclusive' && of.verdict !== 'equivalent' && of.p > 1 - criteria.confidence) {
      of.verdict = 'inconclusive';
      of.doubt = `among ${family.length} comparisons, chance alone may cause one such difference; more trials may decide`;
    }
  });
};

// The relative difference that the interval of a baseline against itself reaches; 0 where it is not known.
const noiseFloor = (base, again, page) => {
  const of = compareRounds(base, again, 'neither', { delta: 0 }, page);
  if (of.low === null || !Number.isFinite(of.low) || of.low <= 0) return 0;
  return Math.expm1(max(abs(Math.log(of.low)), abs(Math.log(of.high))));
};
