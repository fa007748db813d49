/** Formats amounts and times for people. */
export function formatDuration(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} days`;
}

/** Such as "3 min ago". `now` is the server's time. */
export function formatAge(at: string, now: number): string {
  const ms = now - Date.parse(at);
  if (ms < 5_000) return "just now";
  const hours = Math.floor(ms / 3_600_000);
  if (hours === 0) return `${formatDuration(ms)} ago`;
  const days = Math.floor(hours / 24);
  return days === 0 ? `${hours} h ago` : days === 1 ? "1 day ago" : `${days} days ago`;
}

export function formatTokens(count: number): string {
  if (count < 1_000) return String(count);
  return count < 1_000_000 ? `${(count / 1_000).toFixed(1)}k` : `${(count / 1_000_000).toFixed(1)}M`;
}

export function formatUsd(usd: number): string {
  return usd > 0 && usd < 0.01 ? "< $0.01" : `$${usd.toFixed(2)}`;
}

/** Such as "1.2 MB". */
export function formatBytes(bytes: number): string {
  const units = ["kB", "MB", "GB"] as const;
  if (bytes < 1_000) return `${bytes} B`;
  const power = Math.min(units.length, Math.floor(Math.log10(bytes) / 3));
  return `${(bytes / 1_000 ** power).toFixed(1)} ${units[power - 1] ?? ""}`;
}

/** The last part of a path. */
export function folderName(path: string): string {
  return path.split("/").filter(Boolean).at(-1) ?? path;
}

/** A line of Markdown without its marks, for one line of a list. */
export function plainLine(line: string): string {
  return line
    .slice(0, MAX_LINE)
    .replace(/^[\s>|#*-]+/, "")
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll(/\*\*|`/g, "")
    .replaceAll(/\s*\|\s*/g, " \u{b7} ")
    .replace(/ \u{b7} $/u, "");
}

const MAX_LINE = 500;

/** The title of a call without the name of its tool, which is shown beside it. */
export function titleWithoutTool(title: string, tool: string): string {
  if (tool === "" || !title.startsWith(tool)) return title;
  const rest = title.slice(tool.length).replace(/^:?\s+/, "");
  return rest === "" || rest === title.slice(tool.length) ? title : rest;
}

/** Shows control characters and characters that change the direction of text as what they are. */
export function visible(text: string): string {
  return text.replaceAll(
    INVISIBLE,
    (unit) => `\u{ab}U+${(unit.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}\u{bb}`,
  );
}

const INVISIBLE = /[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;
