/* The widget of playground.md. Its pictures, and window.fastaugPlayground, are made by docs/_ext/playground.py. */
(() => {
"use strict";

const held = window.fastaugPlayground;
const root = document.getElementById("playground");
const program = document.querySelector(".playground-code pre");
if (!held || !root || !program) return;

const folder = "_static/playground/";
const [originalWidth, originalHeight] = held.original;
const entries = new Map(held.entries.map(entry => [entry.key, entry]));
const places = new Map(held.entries.map(entry => [entry.key, entry.parameters.map(one => one.start)]));
let entry = entries.get(held.start);

/** An element with attributes and children. A value of null leaves an attribute out. */
const made = (tag, attributes = {}, ...children) => {
  const one = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== null) one.setAttribute(name, value);
  one.append(...children);
  return one;
};

/* The parts that stay. */
const select = made("select");
const picks = made("div", {class: "playground-picks", role: "radiogroup", "aria-label": "Transform"});
for (const group of held.groups) {
  const those = held.entries.filter(one => one.group === group);
  select.append(made("optgroup", {label: group}, ...those.map(one => made("option", {value: one.key}, one.name))));
  const pills = those.map(one => made("label", {class: "playground-pill"},
    made("input", {type: "radio", name: "playground-pick", value: one.key}), made("span", {}, one.name)));
  picks.append(made("span", {class: "playground-title"}, group), made("div", {class: "playground-group"}, ...pills));
}
const image = made("img", {class: "playground-result", alt: ""});
const stage = made("div", {class: "playground-stage"}, image);
const size = made("p", {class: "playground-size"});
const heading = made("p", {class: "playground-name"});
const about = made("p", {class: "playground-about"});
const reference = made("a", {}, "Reference");
const controls = made("div", {class: "playground-controls"});
const compare = made("input", {type: "checkbox"});
const drawn = made("p", {class: "playground-drawn", "aria-live": "polite"});
root.append(
  made("label", {class: "playground-select"}, "Transform", select),
  picks,
  made("div", {class: "playground-body"},
    made("div", {}, stage, size),
    made("div", {class: "playground-panel"},
      heading, about, controls,
      made("label", {class: "playground-compare"}, compare, "Show the original"), drawn)));

/** The number of a combination: the last parameter turns fastest. */
const number = (one, at) => one.parameters.reduce((sum, parameter, k) => sum * parameter.values.length + at[k], 0);
const source = (one, at) => `${folder}${[one.key, ...at].join("-")}.webp`;

/** Load all pictures of an entry, so that a slider shows them at once. */
const loaded = new Set();
const load = one => {
  if (loaded.has(one.key)) return;
  loaded.add(one.key);
  one.frames.forEach((_, count) => {
    const at = [];
    for (const parameter of [...one.parameters].reverse()) {
      at.unshift(count % parameter.values.length);
      count = Math.floor(count / parameter.values.length);
    }
    new Image().src = source(one, at);
  });
};

/** Name the state in the address, for links. Browsers limit how often an address may change. */
let waiting;
const address = () => {
  clearTimeout(waiting);
  waiting = setTimeout(() => {
    try {
      history.replaceState(null, "", `#${[entry.key, ...places.get(entry.key)].join("-")}`);
    } catch {
      // A browser that forbids it for files keeps the address.
    }
  }, 300);
};

/** Show the picture and the program of the state. */
const show = () => {
  const at = places.get(entry.key);
  const [width, height, parameters] = entry.frames[number(entry, at)];
  const original = compare.checked;
  const [w, h] = original ? held.original : [width, height];
  program.innerHTML = entry.code.map(piece => typeof piece === "string" ? piece
    : `<mark>${entry.parameters[piece].values[at[piece]]}</mark>`).join("");
  image.src = original ? `${folder}original.webp` : source(entry, at);
  image.alt = original ? "The original photograph" : program.textContent.split("\n").pop();
  // The share of the stage, which is as wide as the widest picture of the entry.
  image.style.width = `${100 * (entry.enlarged ? 1 : w / entry.width)}%`;
  image.style.aspectRatio = `${w} / ${h}`;
  image.classList.toggle("playground-enlarged", entry.enlarged && !original);
  const kept = width === originalWidth && height === originalHeight;
  size.textContent = `${originalWidth} × ${originalHeight}${kept ? "" : ` → ${width} × ${height}`} pixels`;
  drawn.textContent = parameters ? `Drawn at random\n${parameters}` : "";
  drawn.hidden = !parameters;
};

const set = (place, value) => {
  places.get(entry.key)[place] = value;
  compare.checked = false;
  show();
  address();
};

/** A slider, or a button for each value. */
const control = (parameter, place) => {
  const now = places.get(entry.key)[place];
  if (!parameter.slider) {
    const choices = parameter.values.map((value, k) => {
      const input = made("input", {type: "radio", name: `playground-${parameter.name}`, value: k});
      input.checked = k === now;
      input.addEventListener("change", () => set(place, k));
      return made("label", {class: "playground-pill"}, input, made("span", {}, value));
    });
    return made("fieldset", {class: "playground-choice"}, made("legend", {}, parameter.name), ...choices);
  }
  const input = made("input", {type: "range", min: 0, max: parameter.values.length - 1, step: 1});
  const output = made("output", {});
  const say = k => {
    output.textContent = parameter.values[k];
    input.setAttribute("aria-valuetext", parameter.values[k]);
  };
  input.value = now;
  say(now);
  input.addEventListener("input", () => {
    say(input.valueAsNumber);
    set(place, input.valueAsNumber);
  });
  return made("label", {class: "playground-slider"}, made("span", {}, parameter.name), output, input);
};

/** Change to another entry. */
const pick = one => {
  entry = one;
  entry.width = Math.max(originalWidth, ...entry.frames.map(frame => frame[0]));
  entry.height = Math.max(originalHeight, ...entry.frames.map(frame => frame[1]));
  if (entry.enlarged) [entry.width, entry.height] = held.original;
  stage.style.aspectRatio = `${entry.width} / ${entry.height}`;
  select.value = entry.key;
  for (const input of picks.querySelectorAll("input")) input.checked = input.value === entry.key;
  heading.textContent = entry.name;
  reference.href = entry.reference;
  about.replaceChildren(`${entry.about} `, reference);
  controls.replaceChildren(...entry.parameters.map(control));
  show();
};

const picked = event => {
  compare.checked = false;
  pick(entries.get(event.target.value));
  load(entry);
  address();
};
select.addEventListener("change", picked);
picks.addEventListener("change", picked);
compare.addEventListener("change", show);
for (const event of ["pointerenter", "focusin", "touchstart"])
  controls.addEventListener(event, () => load(entry), {passive: true});

/** The entry that the address names, with the places of its values: #rotate-12-1. Other addresses change nothing. */
const named = () => {
  const [key, ...at] = location.hash.slice(1).split("-");
  const one = entries.get(key);
  if (!one) return entry;
  if (at.length === one.parameters.length && at.every((k, n) => /^\d+$/.test(k) && k < one.parameters[n].values.length))
    places.set(key, at.map(Number));
  return one;
};
window.addEventListener("hashchange", () => pick(named()));
pick(named());
})();
