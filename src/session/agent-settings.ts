/** The settings of a session and its agent: what callers can change, and the events that record a change. */
import { isDeepStrictEqual } from "node:util";
import type { AgentDefinition, EventBody, PermissionPolicy, SessionState } from "../domain/index.ts";

/** The settings of a session and its agent. */
export type AgentSettings = Pick<SessionState, "agent" | "backend" | "model" | "cwd" | "permissions"> & {
  /** Set if a person chose the model. */
  readonly modelChosen?: true;
  /** Set if the log does not have this definition of the agent yet. */
  readonly definition?: AgentDefinition;
};

/** Settings to change. Default of each: unchanged. */
export interface Changes {
  /** The name of an agent of the configuration or of this session, or the definition of one. */
  readonly agent?: string | AgentDefinition | undefined;
  readonly model?: string | undefined;
  readonly cwd?: string | undefined;
  readonly permissions?: PermissionPolicy | undefined;
}

/** Changes with the name of the agent, and its definition if the caller passed one. */
export interface NamedChanges extends Omit<Changes, "agent"> {
  readonly agent?: string | undefined;
  readonly definition?: AgentDefinition | undefined;
}

export function toNamedChanges<Of extends Changes>({ agent, ...others }: Of): Omit<Of, "agent"> & NamedChanges {
  if (typeof agent !== "object") return { ...others, agent };
  return { ...others, agent: agent.name, definition: agent };
}

/** True if both name the same agent, which knows the conversation so far and can resume a turn that started before. */
export function isSameAgent(before: AgentSettings, after: AgentSettings): boolean {
  return before.agent === after.agent && before.backend === after.backend;
}

/**
 * Returns the events that record changed settings. Empty if nothing changed. `host`: the host that drives the session.
 */
export function changeEvents(
  before: AgentSettings & Pick<SessionState, "definitions">,
  after: AgentSettings,
  host?: string,
): EventBody[] {
  const { backend, model, modelChosen, cwd, permissions } = after;
  const others = backend !== before.backend || model !== before.model || cwd !== before.cwd;
  const switched = after.agent !== before.agent;
  const defined = definitionEvents(before, after);
  if (!switched && !others && permissions === before.permissions && defined.length === 0) return [];
  return [
    ...defined,
    ...(switched ? [{ type: "agent.switched" as const, from: before.agent, to: after.agent }] : []),
    {
      type: "session.opened",
      reopened: true,
      backend,
      model,
      ...(modelChosen && { modelChosen }),
      cwd,
      permissions,
      ...(host !== undefined && { host }),
    },
  ];
}

/** Returns the event that records the definition of an agent. Empty if the log has it. */
export function definitionEvents(
  { definitions }: Pick<SessionState, "definitions">,
  { definition }: Pick<AgentSettings, "definition">,
): EventBody[] {
  if (definition === undefined) return [];
  const { name } = definition;
  const known = Object.hasOwn(definitions, name) ? definitions[name] : undefined; // the name may be "constructor"
  return isDeepStrictEqual(known, definition) ? [] : [{ type: "agent.defined", definition }];
}
