/** A version that nobody knows. */
import { outcomeText, resultOf } from "../agent/outcome.ts";
import { Peer } from "../agent/peer.ts";
import { quoted } from "../quote.ts";
import { initializeParams, type Scene } from "../scene.ts";

const UNKNOWN_VERSION = 65_535;

export async function version(scene: Scene): Promise<void> {
  await using peer = await Peer.start(scene);
  const outcome = await peer.request("initialize", initializeParams(UNKNOWN_VERSION));
  const own = resultOf(outcome)?.["protocolVersion"];
  if (outcome.kind !== "result") scene.findings.fail(6, outcomeText("initialize", outcome));
  else if (Number.isInteger(own) && Number(own) >= 1 && Number(own) < UNKNOWN_VERSION) scene.findings.pass(6);
  else scene.findings.fail(6, `version ${UNKNOWN_VERSION} was answered with ${quoted(own)}`);
}
