import core from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import go from "highlight.js/lib/languages/go";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import python from "highlight.js/lib/languages/python";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";

const languages = { bash, css, diff, go, javascript, json, python, rust, sql, typescript, xml, yaml };
for (const [name, language] of Object.entries(languages)) core.registerLanguage(name, language);

/** Its output is escaped text in `span` elements with classes. */
export function highlight(block: HTMLElement): void {
  const name = /language-([\w+#-]+)/.exec(block.className)?.[1] ?? "";
  if (!core.getLanguage(name)) return;
  const text = block.textContent ?? "";
  block.innerHTML = core.highlight(text, { language: name, ignoreIllegals: true }).value;
}
