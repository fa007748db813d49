/**
 * Publishes merges to the branch of a remote.
 *
 * The push names the commit that the branch must have (`--force-with-lease`). A push without it would also succeed if someone
 * reset the branch to an older commit meanwhile, and would bring back what they removed. Of two hosts that merge at once, the
 * second one is refused and merges again on the new head.
 */
import { listLinkedWorktrees } from "../linked-worktrees.ts";
import type { MergeRemote } from "../merge/merge.ts";
import type { Mirror } from "./mirror.ts";
import { pushRef } from "./transport.ts";

/** Returns the branch `into` of the remote as the target of `mergeBranch`. */
export function openMergeRemote(mirror: Mirror, into: string): MergeRemote {
  const { repository, transport } = mirror;
  const ref = `refs/remotes/origin/${into}`;
  return {
    ref,
    refresh: (signal) => mirror.fetchBranch(into, { signal }),
    async publish({ ref: target, from, to }) {
      if ((await pushRef(transport, { ref: target, to, expected: from })) === "moved") return "moved";
      const isUsed = (await listLinkedWorktrees(repository)).some((linked) => linked.ref === target);
      await repository.gitTry(["update-ref", ref, to]); // the next fetch does it if this fails
      if (!isUsed) await repository.gitTry(["update-ref", target, to]);
      return "published";
    },
  };
}
