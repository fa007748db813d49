// Writes measured figures into docs/benchmarks.md, between its two markers.
import { readFileSync, writeFileSync } from "node:fs";
import { cpus, totalmem } from "node:os";
import { fileURLToPath } from "node:url";
import prettier from "prettier";
import { format } from "./table.mjs";

const root = new URL("..", import.meta.url);
const page = fileURLToPath(new URL("docs/benchmarks.md", root));

/** `sections` is a list of [title, rows], with rows as `print` of table.mjs takes them. */
export async function writeFigures(sections) {
  const [head, tail = ""] = readFileSync(page, "utf8").split(
    /(?<=<!-- figures: begin.* -->\n)[^]*(?=<!-- figures: end -->)/,
  );
  writeFileSync(page, await prettier.format(`${head}\n${figures(sections)}\n${tail}`, { parser: "markdown" }));
}

function figures(sections) {
  const { version, dependencies } = JSON.parse(readFileSync(new URL("package.json", root), "utf8"));
  const memory = Math.round(totalmem() / 1024 ** 3);
  const machine = `Node ${process.version} on ${cpus().length} × ${cpus()[0]?.model.trim()} with ${memory} GiB`;
  const about = `${machine}, ${new Date().toISOString().slice(0, 10)}. Rookery ${version}, libsql ${dependencies.libsql}.`;
  return (
    ["## Figures", about, ...sections.map(([title, rows]) => `### ${title}\n\n${table(rows)}`)].join("\n\n") + "\n"
  );
}

function table(rows) {
  const head = ["| figure | value | of the floor | target |", "| --- | --- | --- | --- |"];
  const lines = rows.map(({ name, value, unit, ratio, target, ok }) => {
    const goal = target === undefined ? "" : ok ? target : `${target}: **missed**`;
    const figure = value === undefined ? "" : `${format(value)} ${unit}`;
    return `| ${name} | ${figure} | ${ratio === undefined ? "" : `${ratio.toFixed(2)}×`} | ${goal} |`;
  });
  return [...head, ...lines].join("\n");
}
