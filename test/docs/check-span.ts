/** Decides whether a code span names things that exist. */
import { FOREIGN_NAMES } from "./foreign-names.ts";
import { findCommand, type Vocabulary } from "./vocabulary.ts";

/** Which foreign names were needed: an entry that nothing uses is an error too. */
export const usedForeignNames = new Set<string>();

/** What is wrong with the span, or undefined. */
export function checkSpan(text: string, known: Vocabulary): string | undefined {
  if (isForeign(text)) return undefined;
  if (/^(npx )?rookery(-admin)?( |$)/.test(text)) return checkCommandLine(text);
  if (/^npm (run |test|start)/.test(text)) return checkScript(text, known);
  if (/^(node|bash) [\w.]+\//.test(text)) return checkPath(text.split(" ")[1]!, known);
  if (/^(\$[A-Z_]+|~)(\/|$)/.test(text)) return checkHomePath(text, known);
  if (/^-{1,2}[a-zA-Z]/.test(text)) return checkFlags(text, known);
  if (/^((GET|POST|PUT|PATCH|DELETE) )?\/(v1|openapi|metrics)/.test(text)) return checkRoute(text, known);
  if (isPath(text)) return checkPath(text, known);
  if (/^\[[\w."/-]+\]$/.test(text)) return checkKey(text.slice(1, -1), known);
  if (/^[a-z_]+(\.[\w"/]+)+$/.test(text)) return checkDotted(text, known);
  if (/^[a-z_]+ = /.test(text)) return checkAssignment(text, known);
  return checkWords(text, known);
}

/** Every word of a command line that starts with `rookery`: the command and its flags. */
export function checkCommandLine(line: string): string | undefined {
  const words = line.replace(/^npx /, "").split(/\s+/).slice(1);
  const ours = words.includes("--") ? words.slice(0, words.indexOf("--")) : words;
  const command = findCommand(ours);
  if (command === undefined) return `there is no command "${line}"`;
  const flag = ours.find((word) => /^-{1,2}[a-zA-Z]/.test(word) && !command.flags.has(word.split("=")[0]!));
  return flag === undefined ? undefined : `"${line}" has no option ${flag}`;
}

function checkScript(text: string, { scripts }: Vocabulary): string | undefined {
  const name = /^npm (?:run )?([\w:-]+)/.exec(text)?.[1] ?? "";
  return scripts.has(name) ? undefined : `package.json has no script "${name}"`;
}

function checkFlags(text: string, { flags }: Vocabulary): string | undefined {
  const flag = text.split(/[\s=]/)[0]!;
  return flags.has(flag) || isForeign(flag) ? undefined : `no command has the option ${flag}`;
}

function checkRoute(text: string, { routes }: Vocabulary): string | undefined {
  const path = text.replace(/^[A-Z]+ /, "").split("?")[0]!;
  if (path === "/v1") return undefined;
  const pattern = path
    .split("/")
    .map((part) => (part.startsWith(":") ? ":" : part))
    .join("/");
  const found = routes.some((route) => route.replaceAll(/:\w+/g, ":") === pattern);
  return found ? undefined : `the server has no route ${path}`;
}

function isPath(text: string): boolean {
  return (
    /^\.?[\w@-][\w.@-]*(\/[\w.@*-]+)*\/?$/.test(text) &&
    (/^(src|docs|test|scripts|examples|bench|e2e|\.github|\.ci)\//.test(text) || /\.(md|mjs|ts)$/.test(text))
  );
}

function checkPath(text: string, { files, words }: Vocabulary): string | undefined {
  if (files.has(text) || files.has(text.replace(/\/$/, ""))) return undefined;
  if (files.has(`src/${text}`) || (!text.includes("/") && words.has(text))) return undefined;
  if (text.includes("*")) {
    const pattern = new RegExp(`^${text.replaceAll(".", "\\.").replaceAll("*", "[^/]*")}$`);
    if ([...files].some((file) => pattern.test(file) || pattern.test(file.split("/").at(-1)!))) return undefined;
  }
  return `there is no file ${text}`;
}

/** `$ROOKERY_HOME/token`: the variable and each name must be known. */
function checkHomePath(text: string, { words }: Vocabulary): string | undefined {
  const parts = text.replace(/^\$/, "").split("/");
  const unknown = parts.find((part) => !["", "~", "VAR"].includes(part) && !words.has(part) && !isForeign(part));
  return unknown === undefined ? undefined : `${unknown} is not a name of the source`;
}

function checkKey(text: string, { keys }: Vocabulary): string | undefined {
  return isKey(text, keys) ? undefined : `the configuration has no key ${text}`;
}

/** `agents.reviewer.model` is `agents.NAME.model`. */
function isKey(text: string, keys: ReadonlySet<string>): boolean {
  const parts = text.match(/"[^"]*"|[^.]+/g) ?? [];
  const named = parts.map((part, index) => (index === 1 ? "NAME" : part)).join(".");
  return keys.has(text) || keys.has(named) || keys.has(`agents.NAME.${text}`) || keys.has(`mcp.NAME.${text}`);
}

/** Receivers of methods in prose, and the class or interface that has them. */
const RECEIVERS: Readonly<Record<string, string>> = {
  session: "Session",
  rookery: "Rookery",
  client: "RookeryClient",
  model: "ModelServer",
};

function checkDotted(text: string, known: Vocabulary): string | undefined {
  const [receiver = "", member = ""] = text.split(".");
  if (RECEIVERS[receiver] !== undefined && known.members.get(RECEIVERS[receiver])?.has(member)) return undefined;
  if (known.events.has(text) || isKey(text, known.keys) || known.words.has(text) || known.files.has(text))
    return undefined;
  return `${text} is neither an event type, nor a configuration key, nor a literal of the source`;
}

function checkAssignment(text: string, { keys }: Vocabulary): string | undefined {
  const key = text.split(" ")[0]!;
  const isKnown = [...keys].some((known) => known === key || known.endsWith(`.${key}`));
  return isKnown ? undefined : `the configuration has no key ${key}`;
}

/** Each word must be an identifier or a literal of the source. Numbers, units and placeholders in capitals are free. */
function checkWords(text: string, known: Vocabulary): string | undefined {
  if (known.words.has(text) || known.files.has(text) || known.files.has(`src/${text}`)) return undefined;
  const words = text.match(/[A-Za-z_$][\w$]*/g) ?? [];
  const unknown = words.find((word) => !known.words.has(word) && !isForeign(word) && !isPlaceholder(word));
  return unknown === undefined ? undefined : `${unknown} is not a name of the source`;
}

const KEYWORDS: ReadonlySet<string> = new Set(["await", "using", "new", "const", "true", "false", "null", "undefined"]);

function isPlaceholder(word: string): boolean {
  return /^[A-Z]{1,12}$/.test(word) || word.length < 3 || KEYWORDS.has(word);
}

function isForeign(text: string): boolean {
  if (!FOREIGN_NAMES.has(text)) return false;
  usedForeignNames.add(text);
  return true;
}
