/** Sends non-text content in a prompt, of the types that the agent advertises. */
import { getObjectMember } from "../../../wire/json-object.ts";
import { createCheckSession, openInitializedAgent, type InitializedAgent, type CheckContext } from "../context.ts";
import { runPrompt, STOP_REASONS, textBlock, formatTurn } from "../prompt-turn.ts";

export async function checkContent(context: CheckContext): Promise<void> {
  await using agent = await openInitializedAgent(context);
  if (agent === undefined) return;
  const offered = getObjectMember(agent.capabilities, "promptCapabilities");
  for (const [capability, block] of Object.entries(BLOCKS)) {
    if (offered[capability] === true) await checkBlock(context, agent, capability, block());
  }
}

async function checkBlock(
  context: CheckContext,
  agent: InitializedAgent,
  capability: string,
  block: object,
): Promise<void> {
  const session = await createCheckSession(context, agent);
  if (session === undefined) return;
  const turn = await runPrompt(agent.peer, session.id, [textBlock(context.prompt), block]);
  if (STOP_REASONS.includes(turn.stopReason)) context.findings.pass(23);
  else context.findings.fail(23, `${capability}: ${formatTurn(turn)}`);
}

const BLOCKS: Readonly<Record<string, () => object>> = {
  image: () => ({ type: "image", mimeType: "image/png", data: PNG }),
  audio: () => ({ type: "audio", mimeType: "audio/wav", data: createSilence().toString("base64") }),
  embeddedContext: () => ({
    type: "resource",
    resource: { uri: "file:///rookery/check.txt", mimeType: "text/plain", text: "A file that is named in a prompt.\n" },
  }),
};

/** A gray square, large enough that no model refuses it for its size. */
const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAEAAAABACAAAAACPAi4CAAAAKUlEQVR42u3MQREAAAwCIKMb3RD77SAA6VEEAoFAIBAIBAKBQCAQfA8G320AeXC6efoAAAAASUVORK5CYII=";

/** A tenth of a second of silence: 8 kHz, 8 bits, one channel. */
function createSilence(): Buffer {
  const rate = 8_000;
  const samples = Buffer.alloc(rate / 10, 128);
  const header = Buffer.alloc(44);
  header.write("RIFF", 0, "ascii");
  header.writeUInt32LE(36 + samples.length, 4);
  header.write("WAVEfmt ", 8, "ascii");
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(rate, 24);
  header.writeUInt32LE(rate, 28);
  header.writeUInt16LE(1, 32);
  header.writeUInt16LE(8, 34);
  header.write("data", 36, "ascii");
  header.writeUInt32LE(samples.length, 40);
  return Buffer.concat([header, samples]);
}
