// Writes dist/cli/THIRD-PARTY-LICENSES.txt, because the bundled command and the page contain their dependencies.
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
const wanted = new Set();
for (const name of Object.keys(lock.packages[""].dependencies)) collect(name);
/** Development dependencies of which the command or the page contains a part, without their own dependencies. */
const BUNDLED = ["@mariozechner/pi-tui", "get-east-asian-width", "highlight.js", "marked", "solid-js", "virtua"];
for (const name of BUNDLED) wanted.add(name);

/** Notices of packages that have none in their archive, from their repositories. */
const NOTICES = { "@mariozechner/pi-tui": mitLicense("Copyright (c) 2025 Mario Zechner") };

function collect(name) {
  if (wanted.has(name)) return;
  wanted.add(name);
  const entry = lock.packages[`node_modules/${name}`];
  for (const dependency of Object.keys(entry?.dependencies ?? {})) collect(dependency);
}

function mitLicense(copyright) {
  return `MIT License

${copyright}

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files (the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`;
}

const texts = [...wanted].sort().flatMap((name) => {
  const folder = join(root, "node_modules", name);
  if (!existsSync(folder)) return [];
  const { version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = readdirSync(folder).find((entry) => /^(licen[cs]e|copying)/i.test(entry));
  const text = file === undefined ? (NOTICES[name] ?? "") : readFileSync(join(folder, file), "utf8");
  return [`${name} ${version} (${license ?? "see its repository"})\n\n${text.trim()}\n`];
});
const out = process.env.ROOKERY_BUILD ?? join(root, "dist");
writeFileSync(
  join(out, "cli", "THIRD-PARTY-LICENSES.txt"),
  texts.join("\n----------------------------------------\n\n"),
);
