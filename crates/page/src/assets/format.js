// Numbers, changes and names as the charts and the terminal print them.

const SPACE = '\u00a0';
const STEPS = {
  plain: [['', 1], ['k', 1e3], ['M', 1e6], ['G', 1e9], ['T', 1e12]],
  bytes: [['B', 1], ['KiB', 1024], ['MiB', 1048576], ['GiB', 1073741824], ['TiB', 1099511627776]],
  ns: [['ns', 1], ['µs', 1e3], ['ms', 1e6], ['s', 1e9]],
  s: [['ns', 1e-9], ['µs', 1e-6], ['ms', 1e-3], ['s', 1]],
  'MB/s': [['kB/s', 1e-3], ['MB/s', 1], ['GB/s', 1e3], ['TB/s', 1e6]],
  share: [['%', 0.01]],
  ratio: [['', 1]],
};
STEPS.count = STEPS['ops/s'] = STEPS.plain;

const stepOf = (number, unit) => {
  const steps = STEPS[unit] || STEPS.plain;
  return [...steps].reverse().find(([, size]) => abs(number) >= size * 0.9995) || steps[0];
};

const minus = (text) => text.replace('-', '−');

const grouped = (text) => {
  const [whole, ...rest] = text.split('.');
  const digits = whole.replace('-', '');
  if (digits.length < 5) return text;
  return [whole.replace(/\B(?=(\d{3})+(?!\d))/g, '\u202f'), ...rest].join('.');
};

const trimmed = (text) => (text.includes('.') ? text.replace(/\.?0+$/, '') : text);

const scientific = (number) => {
  const [mantissa, exponent] = number.toExponential(2).split('e');
  const power = exponent.replace('+', '').replace(/./g, (sign) => '⁰¹²³⁴⁵⁶⁷⁸⁹'[sign] || '⁻');
  return trimmed(mantissa) === '1' ? `10${power}` : `${minus(trimmed(mantissa))}×10${power}`;
};

// Three significant digits without trailing zeros.
const digits = (number) => {
  const size = abs(number);
  if (number === 0) return '0';
  if (size < 1e-4 || size >= 1e6) return scientific(number);
  const decimals = min(max(2 - Math.floor(Math.log10(size)), 0), 6);
  return minus(grouped(trimmed(number.toFixed(decimals))));
};

const withUnit = (text, name) => (name ? `${text}${SPACE}${name}` : text);

// A number with its unit: `1.2 M`, `350 ns`, `0.81 %`.
const short = (number, unit) => {
  if (number === 0) return unit === 'share' ? `0${SPACE}%` : '0';
  const [name, size] = stepOf(number, unit);
  return withUnit(digits(number / size), name);
};

// A number with its unit and exactly three digits.
const value = (number, unit) => {
  if (number == null) return '';
  const [name, size] = stepOf(number, unit);
  const scaled = number / size;
  const isWhole = ['count', 'bytes', 'plain'].includes(unit) && Number.isInteger(scaled);
  if (number === 0 || isWhole || abs(scaled) < 0.01 || abs(scaled) >= 1000) return short(number, unit);
  const decimals = max(2 - Math.floor(Math.log10(abs(scaled))), 0);
  return withUnit(minus(grouped(scaled.toFixed(decimals))), name);
};

// The title of a metric, with the unit that its values do not name.
const titled = ({ title, unit }) => (unit === 'ops/s' ? `${title} (ops/s)` : title);

// A number to the last digit, with its unit.
const exact = (number, unit) => {
  const name = { bytes: 'bytes', ns: 'ns', s: 's', 'MB/s': 'MB/s', 'ops/s': 'ops/s' }[unit] || '';
  return number === null ? '–' : withUnit(String(number), name);
};

const bareFactor = (ratio) => {
  const factor = ratio < 1 ? 1 / ratio : ratio;
  return factor.toFixed(factor >= 100 ? 0 : factor >= 10 ? 1 : 2);
};

// The word for the direction of a change, such as `faster`.
const directionOf = (metric, isUp) => {
  if (['ops/s', 'MB/s', 'ns'].includes(metric.unit) && metric.better !== 'neither')
    return isUp === (metric.better === 'higher') ? 'faster' : 'slower';
  return isUp ? 'higher' : 'lower';
};

// A change against the baseline: its short form and its interval. A change of 2 or more is a factor of at least 1, a
// smaller one a percentage, and one of a share of which more is better has percentage points.
const changeOf = ({ ratio, low, high }, baseline, metric) => {
  if (ratio === null) return { short: '', range: '', word: '' };
  const hasWidth = low !== null && low !== high;
  const all = hasWidth ? [low, high, ratio] : [ratio];
  const isOneSided = all.every((of) => of >= 1) || all.every((of) => of <= 1);
  const isLarge = all.some((of) => Number.isFinite(of) && of > 0 && abs(Math.log(of)) >= Math.LN2);
  const isPoints = metric.unit === 'share' && metric.better === 'higher' && baseline !== null;
  const isFactor = !isPoints && isOneSided && isLarge;
  const signed = (of) => {
    if (of === Infinity) return 'from 0';
    if (isFactor && of > 0) return `${bareFactor(of)}x`;
    if (of === 0 && !isPoints) return 'to 0';
    const sign = of === 1 && !isPoints ? '' : of < 1 ? '−' : '+';
    const size = abs(of - 1) * 100;
    return sign + (isPoints ? `${(size * baseline).toFixed(1)} points` : `${size.toFixed(1)}%`);
  };
  const word = isFactor && Number.isFinite(ratio) && ratio > 0 ? directionOf(metric, ratio > 1) : '';
  if (!hasWidth) return { short: signed(ratio), range: '', word };
  const ends = isFactor && ratio < 1 ? [high, low] : [low, high];
  const bare = (of) => (isFactor ? bareFactor(of) : signed(of));
  return { short: signed(ratio), range: ends.map(bare).join(' .. '), word };
};

const pText = (p) => (p === null ? '' : p < 0.0005 ? '<0.001' : p.toFixed(3));
