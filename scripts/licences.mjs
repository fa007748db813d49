// Writes dist/cli/THIRD-PARTY-LICENSES.txt, because the bundled command contains its dependencies.
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
const wanted = new Set();
for (const name of Object.keys(lock.packages[""].dependencies)) collect(name);

function collect(name) {
  if (wanted.has(name)) return;
  wanted.add(name);
  const entry = lock.packages[`node_modules/${name}`];
  for (const dependency of Object.keys(entry?.dependencies ?? {})) collect(dependency);
}

const texts = [...wanted].sort().flatMap((name) => {
  const folder = join(root, "node_modules", name);
  if (!existsSync(folder)) return [];
  const { version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = readdirSync(folder).find((entry) => /^(licen[cs]e|copying)/i.test(entry));
  const text = file === undefined ? "" : readFileSync(join(folder, file), "utf8");
  return [`${name} ${version} (${license ?? "see its repository"})\n\n${text.trim()}\n`];
});
const out = process.env.ROOKERY_BUILD ?? join(root, "dist");
writeFileSync(
  join(out, "cli", "THIRD-PARTY-LICENSES.txt"),
  texts.join("\n----------------------------------------\n\n"),
);
