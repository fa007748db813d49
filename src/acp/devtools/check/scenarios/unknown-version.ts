/** Initializes with a protocol version that no agent knows. */
import { formatOutcome, getResultObject } from "../agent/outcome.ts";
import { CheckConnection } from "../agent/check-connection.ts";
import { quoteJson } from "../quote.ts";
import { initializeParams, type CheckContext } from "../context.ts";

const UNKNOWN_VERSION = 65_535;

export async function checkUnknownVersion(context: CheckContext): Promise<void> {
  await using peer = await CheckConnection.start(context);
  const outcome = await peer.request("initialize", initializeParams(UNKNOWN_VERSION));
  const own = getResultObject(outcome)?.["protocolVersion"];
  if (outcome.kind !== "result") context.findings.fail(6, formatOutcome("initialize", outcome));
  else if (Number.isInteger(own) && Number(own) >= 1 && Number(own) < UNKNOWN_VERSION) context.findings.pass(6);
  else context.findings.fail(6, `version ${UNKNOWN_VERSION} was answered with ${quoteJson(own)}`);
}
