/** Maps a permission decision to one of the options that the agent offered. */
import type { PermissionDecision } from "../../domain/index.ts";
import type { schema } from "../../acp/index.ts";

/** Responds `cancelled` if no option of the agent matches the decision. */
export function toPermissionResponse(
  decision: PermissionDecision,
  options: readonly schema.PermissionOption[],
): schema.RequestPermissionResponse {
  const wanted = decision.allowed ? ["allow_once", "allow_always"] : ["reject_once", "reject_always"];
  const option = wanted
    .map((kind) => options.find((offered) => offered.kind === kind))
    .find((found) => found !== undefined);
  const cancelled = !decision.allowed && decision.outcome === "cancelled";
  if (option === undefined || cancelled) return { outcome: { outcome: "cancelled" } };
  return { outcome: { outcome: "selected", optionId: option.optionId } };
}
