// The pages' menu and the search. The index is read when somebody begins to type; every word must occur in a section, and
// a section whose heading has the words goes before one whose text has them.
"use strict";

const root = document.currentScript.dataset.root;
const found_max = 20;
const narrow = matchMedia("(max-width: 48rem)");
let sections;

function read_sections() {
  sections ??= fetch(root + "search.json").then((answer) => {
    if (!answer.ok) throw new Error(`search.json: ${answer.status}`);
    return answer.json();
  });
  return sections;
}

function rank(words, [title, heading, , text]) {
  const head = `${title} ${heading}`.toLowerCase();
  const body = text.toLowerCase();
  let sum = 0;
  for (const word of words) {
    if (head.includes(word)) sum += heading.toLowerCase().includes(word) ? 3 : 2;
    else if (body.includes(word)) sum += 1;
    else return 0;
  }
  return sum;
}

function excerpt(words, text) {
  const at = Math.max(0, text.toLowerCase().indexOf(words[0]) - 60);
  return (at > 0 ? "…" : "") + text.slice(at, at + 180) + (at + 180 < text.length ? "…" : "");
}

function row_of(words, [title, heading, address, text]) {
  const row = document.createElement("li");
  const link = document.createElement("a");
  link.href = root + address;
  link.textContent = title === heading ? title : `${title}: ${heading}`;
  const lines = document.createElement("p");
  lines.textContent = excerpt(words, text);
  row.append(link, lines);
  return row;
}

async function search(input, list, article) {
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  list.hidden = words.length === 0;
  article.hidden = !list.hidden;
  if (list.hidden) return;
  let all;
  try {
    all = await read_sections();
  } catch (error) {
    sections = undefined;
    list.replaceChildren(`The search does not work: ${error.message}`);
    return;
  }
  const ranked = all.map((section) => [rank(words, section), section]).filter(([sum]) => sum > 0);
  ranked.sort((one, other) => other[0] - one[0]);
  list.replaceChildren(...ranked.slice(0, found_max).map(([, section]) => row_of(words, section)));
  if (ranked.length === 0) list.replaceChildren("Nothing has all of these words.");
}

document.addEventListener("DOMContentLoaded", () => {
  const pages = document.querySelector(".pages");
  const fit = () => { pages.open = !narrow.matches; };
  narrow.addEventListener("change", fit);
  fit();
  const input = document.querySelector("input[type=search]");
  const list = document.querySelector(".found");
  const article = document.querySelector("article");
  input.addEventListener("input", () => search(input, list, article));
  list.addEventListener("click", (event) => {
    if (event.target.closest("a")) { input.value = ""; search(input, list, article); }
  });
  document.querySelector("form").addEventListener("submit", (event) => {
    event.preventDefault();
    list.querySelector("a")?.click();
  });
});
