'use strict';
// Searches the sections of all pages. The file with the index defines `searchIndex`: the address, the title, the title of
// the page, and the text of each section.
(() => {
  const MOST = 60;
  const AROUND = 90;
  const sections = searchIndex.map(([address, title, page, text]) =>
    ({ address, title, page, text, low: { title: title.toLowerCase(), page: page.toLowerCase(), text: text.toLowerCase() } }));
  const [box, status, list, pages] = ['finder', 'found', 'results', 'pages'].map((id) => document.getElementById(id));

  const element = (name, attributes, ...children) => {
    const made = document.createElement(name);
    for (const [key, of] of Object.entries(attributes)) made.setAttribute(key, of);
    made.append(...children);
    return made;
  };

  // The position of a search term at the start of a word in the text, or else anywhere. Negative without a match.
  const place = (text, word) => {
    let anywhere = -1;
    for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
      if (!at || !/[\p{L}\p{N}]/u.test(text[at - 1])) return { at, isStart: true };
      if (anywhere < 0) anywhere = at;
    }
    return { at: anywhere, isStart: false };
  };

  // A word in the title counts more than a word in the text, and the begin of a word more than its inside. A section
  // without one of the words has no points.
  const points = ({ low }, words) => {
    let sum = 0;
    for (const word of words) {
      let own = 0;
      for (const [text, atStart, inside] of [[low.title, 20, 6], [low.page, 5, 2], [low.text, 4, 1]]) {
        const { at, isStart } = place(text, word);
        if (at >= 0) own += isStart ? atStart : inside;
      }
      if (!own) return 0;
      sum += own;
    }
    const phrase = words.join(' ');
    return sum + (low.title.startsWith(phrase) ? 15 : 0) + (words.length > 1 && low.text.includes(phrase) ? 8 : 0);
  };

  // The text around the first word, with all words marked.
  const excerpt = ({ text, low }, words) => {
    const first = Math.max(0, Math.min(...words.map((word) => place(low.text, word).at).filter((at) => at >= 0)));
    const start = Number.isFinite(first) && first > AROUND ? low.text.indexOf(' ', first - AROUND) + 1 : 0;
    const shown = text.slice(start, start + 2.4 * AROUND);
    const parts = start ? ['… '] : [];
    let rest = shown;
    while (rest) {
      const low = rest.toLowerCase();
      const next = words.map((word) => [low.indexOf(word), word.length]).filter(([at]) => at >= 0).sort((a, b) => a[0] - b[0])[0];
      if (!next) break;
      parts.push(rest.slice(0, next[0]), element('mark', {}, rest.slice(next[0], next[0] + next[1])));
      rest = rest.slice(next[0] + next[1]);
    }
    return [...parts, rest, start + shown.length < text.length ? ' …' : ''];
  };

  const entry = (section, words) => {
    const { address, title, page } = section;
    const of = page && page !== title ? [element('small', {}, page)] : [];
    return element('li', {}, element('a', { href: address }, title || page), ...of, element('p', {}, ...excerpt(section, words)));
  };

  const input = element('input', { id: 'words', type: 'search', name: 'q', autocomplete: 'off', 'aria-controls': 'results',
    placeholder: 'such as filter, write stalls or rocksdb' });
  const show = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = words.length ? sections.map((section) => [points(section, words), section]).filter(([of]) => of) : [];
    found.sort((a, b) => b[0] - a[0]);
    list.replaceChildren(...found.slice(0, MOST).map(([, section]) => entry(section, words)));
    pages.hidden = found.length > 0;
    const count = `${found.length} ${found.length === 1 ? 'section' : 'sections'}`;
    status.textContent = !words.length ? '' : !found.length ? 'No section has all of these words; use fewer words.'
      : found.length > MOST ? `${count}, the best ${MOST} are shown` : count;
  };

  const links = () => [...list.querySelectorAll('a')];
  document.addEventListener('keydown', (event) => {
    const at = links().indexOf(document.activeElement);
    if (event.key === '/' && document.activeElement !== input && !event.ctrlKey && !event.metaKey) input.focus();
    else if (event.key === 'Escape' && at >= 0) input.focus();
    else if (event.key === 'ArrowDown' && (at >= 0 || document.activeElement === input)) (links()[at + 1] || input).focus();
    else if (event.key === 'ArrowUp' && at >= 0) (links()[at - 1] || input).focus();
    else return;
    event.preventDefault();
  });
  input.addEventListener('input', () => {
    const of = input.value.trim();
    history.replaceState(null, '', of ? `?q=${encodeURIComponent(of)}` : location.pathname);
    show();
  });
  box.append(element('label', { for: 'words' }, 'Words'), input,
    element('small', {}, 'The arrow keys move through the results, and / returns to this field.'));
  input.value = new URLSearchParams(location.search).get('q') || '';
  show();
  input.focus();
})();
