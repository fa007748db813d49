/** The format of the published agent registry. Unknown fields are kept. */
import { z } from "zod";
import { RookeryError } from "../../../domain/errors.ts";

const args = z.array(z.string()).default([]);
const env = z.record(z.string(), z.string()).default({});
/** Used as a directory name. */
const id = z.string().regex(/^[A-Za-z0-9][\w.-]*$/, "may contain only letters, digits, dots, underscores and hyphens");

const packageSchema = z.looseObject({ package: z.string().min(1), cmd: z.string().min(1).optional(), args, env });
const binarySchema = z.looseObject({
  archive: z.string().min(1),
  sha256: z.string().optional(),
  cmd: z.string().min(1),
  args,
  env,
});

const agentSchema = z.looseObject({
  id,
  name: z.string(),
  version: id,
  distribution: z.looseObject({
    npx: packageSchema.optional(),
    uvx: packageSchema.optional(),
    /** By `<os>-<arch>`. */
    binary: z.record(z.string(), binarySchema).optional(),
  }),
});

const indexSchema = z.looseObject({ version: z.string(), agents: z.array(z.unknown()) });

export type PackageDistribution = z.infer<typeof packageSchema>;
export type BinaryDistribution = z.infer<typeof binarySchema>;
export type RegistryAgent = z.infer<typeof agentSchema>;

export interface RegistryIndex {
  readonly version: string;
  readonly agents: readonly RegistryAgent[];
  /** Invalid entries, by id if they have one. The other entries can still be used. */
  readonly unusable: readonly { readonly id: string; readonly why: string }[];
}

/** Throws `config_invalid` if the value is not a registry index. `where` names it in the message. */
export function parseRegistry(value: unknown, where = "the registry"): RegistryIndex {
  const index = indexSchema.safeParse(value);
  if (!index.success) {
    throw new RookeryError("config_invalid", `${where} is not an agent registry: ${z.prettifyError(index.error)}`, {
      cause: index.error,
    });
  }
  const agents: RegistryAgent[] = [];
  const unusable: { id: string; why: string }[] = [];
  for (const [place, entry] of index.data.agents.entries()) {
    const agent = agentSchema.safeParse(entry);
    if (agent.success) agents.push(agent.data);
    else unusable.push({ id: getEntryId(entry) ?? `entry ${place + 1}`, why: z.prettifyError(agent.error) });
  }
  return { version: index.data.version, agents, unusable };
}

function getEntryId(entry: unknown): string | undefined {
  const named = z.object({ id: z.string() }).safeParse(entry);
  return named.success ? named.data.id : undefined;
}
