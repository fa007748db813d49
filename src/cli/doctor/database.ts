/** Checks the PostgreSQL database of the log, if the configuration names one. */
import { readStoreConfig } from "../../config/store-config.ts";
import { messageOf } from "../../domain/errors.ts";
import type { Io } from "../io.ts";
import type { Finding } from "./finding.ts";

/** Undefined if the log is in the home. Never contains the user or the password. */
export async function checkDatabase({ env }: Pick<Io, "env">): Promise<Finding[] | undefined> {
  const subject = "log";
  try {
    const configured = await readStoreConfig(env);
    if (configured === undefined) return undefined;
    const { inspectPostgresStore } = await import("../../store/postgres/open.ts");
    const { where, serverVersion, version, latency, risks } = await inspectPostgresStore(configured);
    const schema = version === 0 ? "no tables yet" : `version ${version}`;
    const detail = `${where}: ${schema}, PostgreSQL ${serverVersion}, ${latency.toFixed(1)} ms per query`;
    return [
      { subject, status: "ok", detail },
      ...risks.map((risk): Finding => ({ subject, status: "warning", ...risk })),
    ];
  } catch (error) {
    return [{ subject, status: "problem", detail: messageOf(error) }];
  }
}

/** Names the server, the database and the schema. Undefined if the log is in the home. */
export async function describeDatabase({ env }: Pick<Io, "env">): Promise<string | undefined> {
  const configured = await readStoreConfig(env);
  if (configured === undefined) return undefined;
  const { describePostgresStore } = await import("../../store/postgres/open.ts");
  return describePostgresStore(configured);
}

/** One line for each database setting that can lose events that were already shown. Empty if it cannot be checked. */
export async function describeDatabaseRisks(io: Pick<Io, "env">): Promise<readonly string[]> {
  const findings = (await checkDatabase(io)) ?? [];
  return findings
    .filter(({ status }) => status === "warning")
    .map(({ detail, advice }) => `${detail}: ${advice ?? "run rookery doctor"}`);
}
