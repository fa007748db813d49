/** Formats the parts that every generated page uses: its header, tables and fenced blocks. */

/** `source` names the file to change instead of the page. */
export function page(title: string, source: string, sections: readonly string[]): string {
  const note = `<!-- Generated from ${source} by \`npm run docs\`. Do not edit. -->`;
  return `${[`# ${title}`, note, ...sections].filter((section) => section !== "").join("\n\n")}\n`;
}

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return "";
  return [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.map(escapeCell).join(" | ")} |`).join("\n");
}

export function fence(language: string, text: string): string {
  return `\`\`\`${language}\n${text.trimEnd()}\n\`\`\``;
}

export function code(text: string): string {
  return `\`${text}\``;
}

function escapeCell(text: string): string {
  return text.replaceAll("\n", " ").replaceAll("|", "\\|");
}
