/** Drives the agent of a scene through the public API: opens a Rookery and reads the logs of its sessions. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, vi } from "vitest";
import type { EventOf, EventType, SessionEvent, ToolSource } from "../../domain/index.ts";
import { Rookery, type OpenSessionOptions } from "../../rookery.ts";
import type { Session, Turn } from "../../session/index.ts";
import { DisposeStack, processesMarked } from "../../stdx/index.ts";
import { openMemoryStore } from "../../store/index.ts";
import { SECRETS, type ContractScene, type Subject } from "./subject.ts";
import { PROMPTS, type Behavior } from "./prompts.ts";

export interface User extends AsyncDisposable {
  readonly subject: Subject;
  readonly scene: ContractScene;
  readonly rookery: Rookery;
  /** Inputs of the calls of the `note` tool. */
  readonly notes: unknown[];
  open(options?: OpenSessionOptions): Promise<Session>;
}

/** Longer than any program takes to start. */
const PATIENCE = { timeout: 30_000, interval: 10 };

export async function openUser(subject: Subject, behavior: Behavior, change = keepToml): Promise<User> {
  await using opening = new DisposeStack();
  const scene = opening.use(await subject.open(behavior));
  const env = behavior === "env" ? { ...SECRETS, ...scene.env } : scene.env;
  const folder = join(env["XDG_CONFIG_HOME"] ?? "", "rookery");
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "rookery.toml"), `[agents.it]\n${change(scene.toml)}\n`);
  const store = opening.use(openMemoryStore());
  const notes: unknown[] = [];
  const plugins = behavior === "mcp" ? [() => ({ id: "notes", version: "1", sources: [noteTool(scene, notes)] })] : [];
  const rookery = opening.use(await Rookery.open({ env, cwd: scene.cwd, store, plugins }));
  const sessions = new Set<string>();
  const owned = opening.move();
  return {
    subject,
    scene,
    rookery,
    notes,
    open: async (options = {}) => {
      const { permissions } = subject;
      const defaults = { agent: "it", ...(permissions !== undefined && { permissions }) };
      const session = await rookery.openSession({ ...(options.id === undefined && defaults), ...options });
      sessions.add(session.id);
      return session;
    },
    async [Symbol.asyncDispose]() {
      const events = await Promise.all([...sessions].map((sessionId) => store.read({ sessionId, limit: 1_000 })));
      await rookery.close();
      const markers = events
        .flatMap((page) => eventsOfType(page.events, "process.started"))
        .map(({ marker }) => marker);
      const left = [...new Set(markers)].flatMap(processesMarked);
      await owned[Symbol.asyncDispose]();
      expect(left, "processes that outlived their session").toEqual([]);
    },
  };
}

/** Runs a turn, answers its requests with `answer`, and returns its events. */
export async function playTurn(
  user: User,
  session: Session,
  prompt: string,
  answer?: Parameters<Rookery["answer"]>[2],
): Promise<SessionEvent[]> {
  const events: SessionEvent[] = [];
  for await (const event of session.prompt(prompt)) {
    events.push(event);
    if (event.type !== "permission.requested" && event.type !== "question.asked") continue;
    if (answer === undefined) throw new Error(`unexpected request: ${JSON.stringify(event)}`);
    await user.rookery.answer(session.id, event.requestId, answer);
  }
  return events;
}

export interface EndlessTurn {
  readonly turn: Turn;
  readonly events: readonly SessionEvent[];
  /** Resolves with all events when the turn has ended. */
  readonly ended: Promise<readonly SessionEvent[]>;
}

/** Starts a turn that never ends by itself. Resolves once the agent is working on it. */
export async function startEndlessTurn(user: User, session: Session): Promise<EndlessTurn> {
  const turn = session.prompt(PROMPTS.wait);
  const events: SessionEvent[] = [];
  const reading = (async () => {
    for await (const event of turn) events.push(event);
    return events;
  })();
  await vi.waitFor(() => {
    const end = events.findLast((event) => event.type === "turn.ended");
    if (end === undefined && !isUnderWay(user, events)) throw new Error("the agent has not started the turn");
  }, PATIENCE);
  expect(eventsOfType(events, "turn.ended"), "the turn should still run").toEqual([]);
  return { turn, events, ended: reading };
}

export function eventsOfType<Type extends EventType>(events: readonly SessionEvent[], type: Type): EventOf<Type>[] {
  return events.filter((event): event is EventOf<Type> => event.type === type);
}

/** Checks that the turn ended with `done`. */
export function expectDone(events: readonly SessionEvent[]): void {
  expect(eventsOfType(events, "turn.ended")).toMatchObject([{ outcome: { status: "done" } }]);
}

/** Returns the last process that the log has. */
export function lastProcess(events: readonly SessionEvent[]): EventOf<"process.started"> {
  const last = eventsOfType(events, "process.started").at(-1);
  if (last === undefined) throw new Error("the log has no process.started event");
  return last;
}

export async function readLog(user: User, session: Session): Promise<readonly SessionEvent[]> {
  return (await user.rookery.store.read({ sessionId: session.id, limit: 1_000 })).events;
}

function isUnderWay({ subject, scene }: User, events: readonly SessionEvent[]): boolean {
  const isKnown = (subject.hasProgram ?? true) ? eventsOfType(events, "process.started").length > 0 : true;
  const speaks = (subject.streams ?? true) ? eventsOfType(events, "message.delta").length > 0 : true;
  const mustBeNamed = !(subject.streams ?? true) && subject.capabilities.resume; // needed to resume it
  if (mustBeNamed && !eventsOfType(events, "agent.connected").some(({ nativeId }) => nativeId !== undefined))
    return false;
  return isKnown && speaks && scene.received().includes(PROMPTS.wait);
}

function keepToml(toml: string): string {
  return toml;
}

function noteTool(scene: ContractScene, notes: unknown[]): ToolSource {
  const inputSchema = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };
  return {
    id: "notes",
    list: () => [{ name: "note", description: "Writes a note down.", inputSchema, kind: "other", readOnly: false }],
    describe: () => ({ title: "Write a note" }),
    call: async ({ name, input }) => {
      notes.push(input);
      scene.called?.(name, input);
      return { outcome: "ok", text: "noted" };
    },
  };
}
