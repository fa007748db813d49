/**
 * The result of a check run. Equal behavior gives an equal report: it contains no times, process ids or session ids.
 */
import { stripControlCharacters } from "./quote.ts";

/** Mandatory, conditional on an advertised capability, or advisory. */
export type CheckLevel = "M" | "C" | "A";

/** `not_seen`: the agent gave no occasion for the check, so the result is unknown. */
export type CheckStatus = "pass" | "fail" | "not_offered" | "not_seen";

export interface CheckResult {
  readonly id: number;
  readonly level: CheckLevel;
  readonly title: string;
  readonly status: CheckStatus;
  /** What was observed, if it adds to the status. */
  readonly detail?: string;
}

export interface CheckReport {
  /** The agent's answer to protocol version 1. Undefined if it did not answer. */
  readonly protocolVersion: number | undefined;
  readonly agent: { readonly name: string; readonly version: string } | undefined;
  readonly results: readonly CheckResult[];
  /** True if no mandatory check and no check of an advertised capability failed. */
  readonly ok: boolean;
}

const STATUS_LABELS: Readonly<Record<CheckStatus, string>> = {
  pass: "pass",
  fail: "fail",
  not_offered: "not offered",
  not_seen: "not seen",
};

/** Formats the report for people: one line per check, with the detail below it. */
export function reportText(report: CheckReport): string {
  const { agent, protocolVersion, results } = report;
  const name = agent === undefined ? "unnamed agent" : stripControlCharacters(`${agent.name} ${agent.version}`);
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
