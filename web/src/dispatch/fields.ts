/** The fields of the form that starts a task, and the request that they become. */
import type { components } from "../../../src/client/index.ts";

export const PERMISSIONS = {
  ask: "ask me",
  read: "read only",
  all: "allow everything",
  none: "refuse everything",
} as const;

/** Empty texts stand for the defaults of the server. */
export interface TaskFields {
  prompt: string;
  /** A path on the machine of the server. */
  folder: string;
  agent: string;
  permissions: keyof typeof PERMISSIONS | "";
  pipeline: string;
  id: string;
  base: string;
  usd: string;
  /** Ids of tasks. */
  needs: readonly string[];
}

export function emptyFields(folder: string): TaskFields {
  return { prompt: "", folder, agent: "", permissions: "", pipeline: "", id: "", base: "", usd: "", needs: [] };
}

export function toStartRequest(fields: TaskFields): components["schemas"]["StartTask"] {
  const { prompt, permissions, pipeline, usd, needs } = fields;
  const [cwd, id, base] = [fields.folder.trim(), fields.id.trim(), fields.base.trim()];
  return {
    prompt,
    ...(cwd !== "" && { cwd }),
    ...(fields.agent !== "" && pipeline === "" && { agent: fields.agent }),
    ...(permissions !== "" && { permissions }),
    ...(pipeline !== "" && { pipeline }),
    ...(id !== "" && { id }),
    ...(base !== "" && { base }),
    ...(usd !== "" && { budget: { usd: Number(usd) } }),
    ...(needs.length > 0 && { needs: [...needs] }),
  };
}
