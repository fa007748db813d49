/** Reads the rows of a SQLite file in pages. A damaged row is an error, because its copy would hide the damage. */
import { isUtf8 } from "node:buffer";
import type { RookeryError } from "../../domain/index.ts";
import { decodeNumber, decodeText, numberColumn, textColumn, toDamageError } from "../sqlite/columns.ts";
import type { Cell, Database, Row, Value } from "../sqlite/database.ts";
import { isSummary, isTaskState } from "../stored-shapes.ts";
import { isEventBody, parseJson } from "./stored-json.ts";
import { countFittingRows, MAX_COPIED_ROWS, type CopiedCell, type CopiedRow, type CopiedTable } from "./tables.ts";

type ColumnType = "number" | "text" | "flag" | "bytes" | "number?" | "text?";

interface TableSource {
  /** The columns of the primary key. */
  readonly key: readonly (readonly [name: string, type: "number" | "text"])[];
  /** The columns of `COPIED_COLUMNS`, under their names in this file. */
  readonly columns: readonly (readonly [name: string, type: ColumnType])[];
  /** SQL for the size of a row in bytes. */
  readonly size: string;
  /** SQL for the rows to copy. Default: all. */
  readonly condition?: string;
}

/** Deleted sessions have the head 0 until their rows are removed. */
const OF_EXISTING_LOG = `(
  exists (select 1 from session s where s.no = rows.session and s.head > 0)
  or exists (select 1 from task t where t.no = -rows.session))`;

const TABLES: Record<CopiedTable, TableSource> = {
  task: {
    key: [["no", "number"]],
    columns: [
      ["no", "number"],
      ["id", "text"],
      ["state", "text"],
    ],
    size: "octet_length(state)",
  },
  session: {
    key: [["no", "number"]],
    columns: [
      ["no", "number"],
      ["id", "text"],
      ["summary", "text"],
      ["task", "number?"],
    ],
    size: "octet_length(summary)",
    condition: "head > 0",
  },
  event: {
    key: [
      ["session", "number"],
      ["seq", "number"],
    ],
    columns: [
      ["session", "number"],
      ["seq", "number"],
      ["body", "text"],
    ],
    size: "octet_length(body)",
    condition: OF_EXISTING_LOG,
  },
  append: {
    key: [
      ["session", "number"],
      ["id", "text"],
    ],
    columns: [
      ["session", "number"],
      ["id", "text"],
      ["head", "number"],
    ],
    size: "octet_length(id)",
    condition: OF_EXISTING_LOG,
  },
  lease: {
    key: [["session_id", "text"]],
    columns: [
      ["session_id", "text"],
      ["owner", "text"],
      ["generation", "number"],
      ["until", "number"],
      ["released", "flag"],
    ],
    size: "octet_length(owner)",
  },
  journal: {
    key: [["no", "number"]],
    columns: [
      ["session", "number"],
      ["turn", "text"],
      ["step", "number"],
      ["kind", "text"],
      ["id", "text"],
      ["finished", "flag"],
      ["value", "text?"],
    ],
    size: "octet_length(ifnull(value, ''))",
    condition: OF_EXISTING_LOG,
  },
  blob: {
    key: [["hash", "text"]],
    columns: [
      ["hash", "text"],
      ["bytes", "bytes"],
    ],
    size: "octet_length(bytes)",
  },
  request: {
    key: [["no", "number"]],
    columns: [
      ["key", "text"],
      ["digest", "text"],
      ["at", "number"],
      ["log", "text?"],
      ["id", "text?"],
      ["seq", "number?"],
      ["response", "text?"],
    ],
    size: "octet_length(ifnull(response, ''))",
  },
  feed: {
    key: [["through", "number"]],
    columns: [
      ["through", "number"],
      ["log", "number"],
      ["whose", "number"],
      ["head", "number"],
      ["events", "number"],
    ],
    size: "0",
  },
};

export function countSqliteRows(db: Database, table: CopiedTable): number {
  const { condition = "true" } = TABLES[table];
  return decodeNumber(db.get(`select count(*) from ${table} rows where ${condition}`)?.[0]) ?? 0;
}

/** Throws `log_corrupt` if a row is damaged, `store_corrupt` if SQLite cannot read the file. */
export async function* readSqliteRows(db: Database, table: CopiedTable): AsyncGenerator<readonly CopiedRow[]> {
  const { key, columns, size } = TABLES[table];
  const keys = key.map(([name, type]) => toColumnSql(name, type)).join(", ");
  const cells = columns.map(([name, type]) => toColumnSql(name, type)).join(", ");
  for (let after: Value[] = []; ;) {
    const sizes = db.all(`select ${keys}, ${size} ${buildPageSql(table, after)}`, ...after, MAX_COPIED_ROWS);
    if (sizes.length === 0) return;
    const count = countFittingRows(sizes.map((row) => decodeNumber(row.at(-1)) ?? 0));
    const rows = db.all(`select ${cells} ${buildPageSql(table, after)}`, ...after, count);
    yield rows.map((row) => decodeRow(db, table, row));
    after = key.map(([, type], index) => {
      const value = decodeCell(sizes[count - 1]?.[index], type);
      if (typeof value !== "string" && typeof value !== "number") throw toDamageError(db.path, `the table "${table}"`);
      return value;
    });
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function buildPageSql(table: CopiedTable, after: readonly unknown[]): string {
  const { key, condition = "true" } = TABLES[table];
  const names = key.map(([name]) => name).join(", ");
  const isLater = after.length === 0 ? "true" : `(${names}) > (${after.map(() => "?").join(", ")})`;
  return `from ${table} rows where ${isLater} and ${condition} order by ${names} limit ?`;
}

function toColumnSql(name: string, type: ColumnType): string {
  if (type === "text" || type === "bytes") return textColumn(`rows.${name}`);
  if (type === "text?") return `iif(rows.${name} is null, null, ${textColumn(`rows.${name}`)})`;
  return type === "number?" ? `rows.${name}` : numberColumn(`rows.${name}`);
}

function decodeRow(db: Database, table: CopiedTable, row: Row): CopiedRow {
  const cells = TABLES[table].columns.map(([, type], index) => decodeCell(row[index], type));
  if (cells.includes(undefined)) throw toRowError(db, table, cells);
  const copied = cells as CopiedCell[];
  if (CHECKS[table]?.(copied) === false) throw toRowError(db, table, copied);
  return copied;
}

const CHECKS: Partial<Record<CopiedTable, (row: CopiedRow) => boolean>> = {
  event: ([, seq, body]) => isEventBody(body as string, seq as number),
  session([, id, summary]) {
    const value = parseJson(summary as string);
    return isSummary(value) && value.id === id;
  },
  task([, id, state]) {
    const value = parseJson(state as string);
    return isTaskState(value) && value.id === id;
  },
};

/** Undefined if the cell is damaged. */
function decodeCell(cell: Cell | undefined, type: ColumnType): CopiedCell | undefined {
  if (cell === null) return type.endsWith("?") ? null : undefined;
  switch (type) {
    case "bytes":
      return cell instanceof Uint8Array ? cell : undefined;
    case "flag":
      return typeof cell === "number" ? cell === 1 : undefined;
    case "number":
    case "number?":
      return decodeNumber(cell);
    case "text":
    case "text?":
      return cell instanceof Uint8Array && isUtf8(cell) ? decodeText(cell) : undefined;
  }
}

function toRowError(db: Database, table: CopiedTable, cells: readonly (CopiedCell | undefined)[]): RookeryError {
  const [first, second] = cells;
  if (table !== "event") {
    const name = [first, second].find((cell) => typeof cell === "string") ?? "a row";
    return toDamageError(db.path, `${name} in the table "${table}"`);
  }
  const log = first as number;
  const kind = log > 0 ? "session" : "task";
  const id = decodeText(db.get(`select ${textColumn("id")} from ${kind} where no = ?`, Math.abs(log))?.[0]);
  return toDamageError(db.path, `event ${String(second)} of ${kind} ${id ?? String(log)}`);
}
