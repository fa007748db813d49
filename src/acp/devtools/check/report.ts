/** What a check found: the same for the same behaviour, so without times, process ids and session ids. */
import { stripControlCharacters } from "./quote.ts";

/** Mandatory, only where the capability is advertised, or advice. */
export type CheckLevel = "M" | "C" | "A";

/** `not_seen`: the agent gave no occasion, so nothing is known. */
export type CheckStatus = "pass" | "fail" | "not_offered" | "not_seen";

export interface CheckResult {
  readonly id: number;
  readonly level: CheckLevel;
  readonly title: string;
  readonly status: CheckStatus;
  /** What was seen, where that says more than the status. */
  readonly detail?: string;
}

export interface CheckReport {
  /** As the agent answered to version 1; undefined where it did not. */
  readonly protocolVersion: number | undefined;
  readonly agent: { readonly name: string; readonly version: string } | undefined;
  readonly results: readonly CheckResult[];
  /** No mandatory check and none of an advertised capability failed. */
  readonly ok: boolean;
}

const STATUS_LABELS: Readonly<Record<CheckStatus, string>> = {
  pass: "pass",
  fail: "fail",
  not_offered: "not offered",
  not_seen: "not seen",
};

/** For people: one line a check, and what was seen below it. */
export function reportText(report: CheckReport): string {
  const { agent, protocolVersion, results } = report;
  const name =
    agent === undefined ? "an agent without a name" : stripControlCharacters(`${agent.name} ${agent.version}`);
  const version = protocolVersion === undefined ? "no protocol version" : `protocol version ${protocolVersion}`;
  const lines = results.flatMap(({ id, level, status, title, detail }) => {
    const row = `${String(id).padStart(2)}  ${level}  ${STATUS_LABELS[status].padEnd(11)}  ${title}`;
    return detail === undefined ? [row] : [row, `${" ".repeat(20)}${stripControlCharacters(detail)}`];
  });
  return [`${name}, ${version}`, "", ...lines, "", formatSummary(results), ""].join("\n");
}

function formatSummary(results: readonly CheckResult[]): string {
  const count = (wanted: CheckStatus) => results.filter(({ status }) => status === wanted).length;
  const advisory = results.filter(({ status, level }) => status === "fail" && level === "A").length;
  const failed = `${count("fail")} failed${advisory > 0 ? ` (${advisory} of them advisory)` : ""}`;
  return `${count("pass")} passed, ${failed}, ${count("not_offered")} not offered, ${count("not_seen")} not seen`;
}
