/** Checks whether an agent conforms to the protocol. */
export { checkAgent } from "./check.ts";
export type { CheckOptions } from "./check.ts";
export type { CheckTarget } from "./agent/process.ts";
export { reportText } from "./report.ts";
export type { CheckLevel, CheckReport, CheckResult, CheckStatus } from "./report.ts";
