'use strict';
// Selects rows of the table of comparisons by machine, experiment, phase, memory, metric, verdict and words.
(() => {
  const KEYS = [['machine', 'machine'], ['experiment', 'workload'], ['phase', 'phase'], ['memory', 'memory'], ['metric', 'metric']];
  const VERDICTS = [['improved', 'better'], ['regressed', 'worse'], ['equivalent', 'no difference'], ['inconclusive', 'inconclusive']];
  const box = document.getElementById('find');
  const status = document.getElementById('found');
  const rows = [...document.querySelectorAll('#evidence tbody tr')];
  const texts = rows.map((row) => row.textContent.toLowerCase());
  const read = () => new URLSearchParams(location.hash.slice(1));

  const element = (name, attributes, ...children) => {
    const made = document.createElement(name);
    for (const [key, of] of Object.entries(attributes)) {
      if (key.startsWith('on')) made.addEventListener(key.slice(2), of);
      else made.setAttribute(key, of);
    }
    made.append(...children);
    return made;
  };

  const choose = (key, of) => {
    const hash = read();
    if (of) hash.set(key, of);
    else hash.delete(key);
    if (key === 'experiment') hash.delete('phase');
    const text = hash.toString();
    history.replaceState(null, '', text ? `#${text}` : location.pathname + location.search);
    show();
  };

  const matches = (row, at, chosen, without) => {
    for (const [key] of KEYS) if (key !== without && chosen.get(key) && row.dataset[key] !== chosen.get(key)) return false;
    if (without !== 'verdict' && chosen.get('verdict') && !row.classList.contains(chosen.get('verdict'))) return false;
    const words = (chosen.get('words') || '').toLowerCase().split(/\s+/).filter(Boolean);
    return words.every((word) => texts[at].includes(word));
  };

  // The options of a list are the values of rows that the other lists select.
  const list = (key, label, chosen) => {
    const found = new Set(rows.filter((row, at) => matches(row, at, chosen, key)).map((row) => row.dataset[key]));
    if (chosen.get(key)) found.add(chosen.get(key));
    if (found.size < 2 && !chosen.get(key)) return null;
    const options = [...found].sort((a, b) => a.localeCompare(b, undefined, { numeric: true }));
    return pick(key, label, options.map((of) => [of, of]), chosen);
  };

  const pick = (key, label, options, chosen) => {
    const select = element('select', { id: `find-${key}`, onchange: (event) => choose(key, event.target.value) },
      element('option', { value: '' }, 'all'));
    for (const [of, text] of options) {
      const option = element('option', { value: of }, text);
      if (of === chosen.get(key)) option.selected = true;
      select.append(option);
    }
    return element('div', { class: 'choice' }, element('label', { for: `find-${key}` }, label), select);
  };

  const words = element('input', { id: 'find-words', type: 'search', placeholder: 'such as rocksdb or blocked',
    oninput: (event) => choose('words', event.target.value) });
  const search = element('div', { class: 'choice' }, element('label', { for: 'find-words' }, 'engine or design'), words);

  const show = () => {
    const chosen = read();
    if (document.activeElement !== words) words.value = chosen.get('words') || '';
    const focused = document.activeElement && document.activeElement.id;
    const lists = KEYS.map(([key, label]) => list(key, label, chosen)).filter(Boolean);
    box.querySelectorAll('.choice').forEach((of) => of !== search && of.remove());
    box.prepend(...lists, pick('verdict', 'verdict', VERDICTS, chosen));
    if (!search.parentNode) box.append(search);
    const again = focused && document.getElementById(focused);
    if (again) again.focus();
    let count = 0;
    rows.forEach((row, at) => {
      row.hidden = !matches(row, at, chosen);
      if (!row.hidden) count++;
    });
    status.textContent = count ? `${count} of ${rows.length} comparisons` : 'No comparison matches; choose "all" in one of the lists.';
  };

  addEventListener('hashchange', show);
  show();
})();
