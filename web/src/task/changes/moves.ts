/** Finds the row of a diff that a key moves to. */
interface MovableRow {
  readonly kind: string;
}

/** Returns undefined for keys that do not move. */
export function findMove(key: string, from: number, rows: readonly MovableRow[], pageRows: number): number | undefined {
  const last = rows.length - 1;
  const clamp = (index: number): number => Math.min(Math.max(index, 0), last);
  switch (key) {
    case "j":
    case "ArrowDown":
      return clamp(from + 1);
    case "k":
    case "ArrowUp":
      return clamp(from - 1);
    case "PageDown":
    case " ":
      return clamp(from + pageRows);
    case "PageUp":
      return clamp(from - pageRows);
    case "Home":
      return 0;
    case "End":
      return last;
    case "n": {
      const next = rows.findIndex(({ kind }, index) => kind === "file" && index > from);
      return next === -1 ? from : next;
    }
    case "p": {
      const previous = rows.findLastIndex(({ kind }, index) => kind === "file" && index < from);
      return previous === -1 ? from : previous;
    }
    default:
      return undefined;
  }
}
