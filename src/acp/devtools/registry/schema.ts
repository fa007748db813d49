/** The registry's index of agents, as it is published; what is not known here is left in it. */
import { z } from "zod";
import { RookeryError } from "../../../domain/errors.ts";

const args = z.array(z.string()).default([]);
const env = z.record(z.string(), z.string()).default({});
/** Each becomes the name of a folder. */
const id = z.string().regex(/^[A-Za-z0-9][\w.-]*$/, "must be a plain name");

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
  /** Entries of another form, by their id where they have one; the others are of use all the same. */
  readonly unusable: readonly { readonly id: string; readonly why: string }[];
}

/** Throws `config_invalid` where it is no index at all. `where` is said in the error. */
export function parseRegistry(value: unknown, where = "the registry"): RegistryIndex {
  const index = indexSchema.safeParse(value);
  if (!index.success) {
    throw new RookeryError("config_invalid", `${where} is no index of agents: ${z.prettifyError(index.error)}`, {
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
