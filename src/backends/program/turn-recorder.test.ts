import { expect, it } from "vitest";
import type { EventBody } from "../../domain/index.ts";
import { AcpTranscript } from "../acp/transcript.ts";
import { MAX_MESSAGE_LENGTH } from "../storable.ts";
import { TurnRecorder } from "./turn-recorder.ts";

const MB = 1024 * 1024;

it("records a message that never ends in parts, and does not repeat them at its end", () => {
  const completed: string[] = [];
  const record = (...bodies: EventBody[]): void => {
    for (const body of bodies) if (body.type === "message.completed") completed.push(body.text);
  };
  const recorder = new TurnRecorder({ log: { record } });
  for (let part = 0; part < 10; part += 1) recorder.addMessageText(String(part).repeat(MB));
  recorder.endMessage("all of it");
  const expected = Array.from({ length: 10 }, (_, part) => String(part).repeat(MB)).join("");
  expect(completed.join("") === expected).toBe(true); // a failure would print 10 MB
  expect(Math.max(...completed.map(({ length }) => length))).toBeLessThanOrEqual(MAX_MESSAGE_LENGTH);
});

it("does not keep the inputs of calls that have ended", () => {
  const recorder = new TurnRecorder({ log: { record: () => undefined } });
  recorder.startTool({ id: "c1", name: "write", title: "write", kind: "edit", input: { text: "long" } });
  expect(recorder.tool("c1")?.input).toEqual({ text: "long" });
  recorder.endTool("c1", { outcome: "ok", text: "" });
  expect(recorder.tool("c1")).toMatchObject({ name: "write", input: undefined });

  const transcript = new AcpTranscript();
  const call = { sessionUpdate: "tool_call", toolCallId: "c1", title: "write", rawInput: { text: "long" } };
  transcript.update({ ...call, status: "completed" });
  transcript.update({ ...call, sessionUpdate: "tool_call_update" });
  expect(transcript.addRequestedCall({ toolCallId: "c1" })?.tool).toMatchObject({ title: "write", input: undefined });
});
