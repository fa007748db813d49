// Ten tasks as a client of `rookery serve` sees them: started, watched, answered, stopped, resumed, merged.
// Each step looks before it acts, so it can be repeated: the server may be killed and restarted at any moment.
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { createClient, remoteTasks } from "rookery/client";

/** In the order in which they start. Four run at a time, and three of the first four wait for a person. */
export const TASKS = [
  { id: "guide", title: "Write a guide", pipeline: "straight" },
  { id: "name", title: "Greet someone by name", pipeline: "straight" },
  { id: "languages", title: "Say hello in three languages" },
  { id: "audit", title: "Look for mistakes, and change nothing" },
  { id: "everyone", title: "Greet everyone" },
  { id: "changelog", title: "List what changed" },
  { id: "licence", title: "Add a licence" },
  { id: "deploy", title: "Deploy it" },
  { id: "experiment", title: "Try something" },
  { id: "release", title: "Prepare a release", pipeline: "reviewed", needs: ["guide", "name"] },
];

/** Resolves with what it saw. Rejects if a task did not end as expected. */
export async function playStory({ url, token, repository, signal, tell = () => {}, onEvent = () => {} }) {
  const client = createClient({ url, token });
  const tasks = remoteTasks(client);
  const log = watch(tasks, onEvent, signal);
  const show = (id) => again(() => tasks.show(id));

  /** Resolves with the task once `holds` returns true for it. */
  async function until(id, holds) {
    for (;;) {
      const next = log.next();
      const view = await show(id);
      if (holds(view)) return view;
      await next;
    }
  }

  const done = (id) => until(id, isEnded).then((view) => expectStatus(view, "done"));

  /** Answers every request until the task is done. A request repeats if the server was killed before it had the answer. */
  async function answered(id, answer) {
    for (;;) {
      const next = log.next();
      const view = await show(id);
      if (isEnded(view)) return expectStatus(view, "done");
      for (const { sessionId, requestId } of view.waitingFor) {
        tell(`${id} asks: ${await questionOf(sessionId, requestId)}`);
        const path = { id: sessionId, requestId };
        const { error } = await again(() =>
          client.POST("/v1/sessions/{id}/requests/{requestId}", { params: { path }, body: answer }),
        );
        assert.ok(error === undefined || error.code === "request_resolved", JSON.stringify(error));
      }
      await next;
    }
  }

  async function questionOf(sessionId, requestId) {
    const path = { id: sessionId };
    const { data } = await again(() => client.GET("/v1/sessions/{id}/requests", { params: { path } }));
    return data?.requests.find((request) => request.requestId === requestId)?.title ?? "(answered already)";
  }

  /** Acts until the task is in the expected state. If another operation is in progress, looks again when it is over. */
  async function reach(id, holds, act) {
    for (;;) {
      const next = log.next();
      const view = await show(id);
      if (holds(view)) return view;
      const acted = await again(act).catch(only("task_state"));
      if (acted === undefined) await next;
    }
  }

  /** Does a dry run first, and checks that the merge ends as predicted. */
  async function mergedAsPredicted(id, how) {
    const before = await show(id);
    const predicted = before.merge === undefined ? await again(() => tasks.predictMerge(id, { how })) : undefined;
    const isOver = (view) => view.merge?.outcome !== undefined;
    const { merge } = await reach(id, isOver, () => tasks.merge(id, { how }));
    if (predicted !== undefined) {
      assert.equal(predicted.outcome, merge.outcome, `${id} was not merged as predicted`);
      assert.deepEqual(predicted.conflicts, merge.conflicts ?? []);
    }
    tell(wordsOf(id, merge));
    return merge;
  }

  try {
    tell("Ten tasks are given; four run at a time.");
    for (const { id, title, ...more } of TASKS) {
      const prompt = `${title}\n\nrecipe: ${id}`;
      await again(() => tasks.start({ id, prompt, cwd: repository, ...more }).catch(only("task_exists")));
    }

    // It starts from the current commit; then another change of the same line is merged.
    await done("everyone");
    assert.equal((await done("guide")).merge?.outcome, "merged");
    await answered("name", { action: "accept", content: { name: "Ada" } });
    await answered("audit", { decision: "allow" });

    await until("languages", ({ lastLine }) => lastLine === "Wait until the words of de are checked");
    const reason = "its words are being checked";
    const stopped = await reach("languages", isStopped, () => tasks.stop("languages", { reason }));
    tell(`languages is stopped: ${stopped.message}`);
    const prompt = "The words are checked: go on.";
    await reach("languages", isNotStopped, () => tasks.resume("languages", { prompt }));
    const resumed = await done("languages");
    // With several hosts, another one may continue in a worktree of its own.
    if (resumed.worktree.host === stopped.worktree.host) assert.equal(resumed.worktree.path, stopped.worktree.path);
    assert.deepEqual(resumed.sessions, stopped.sessions);

    for (const id of ["changelog", "licence", "experiment"]) await done(id);
    const failed = expectStatus(await until("deploy", isEnded), "failed");
    tell(`deploy failed: ${failed.message}`);
    const released = await done("release");
    assert.equal(released.merge?.outcome, "merged");
    tell(`release was checked, mended, reviewed and merged in ${released.sessions.length} sessions`);

    const { files } = await again(() => tasks.diff("licence"));
    tell(`licence adds ${files.map(({ path }) => path).join(", ")}`);
    await mergedAsPredicted("changelog", "squash");
    await mergedAsPredicted("licence", "rebase");
    await mergedAsPredicted("languages", "merge");
    const refused = await mergedAsPredicted("everyone", "merge");
    const nothing = await mergedAsPredicted("audit", "merge");

    const refusal = await again(() => tasks.remove("experiment")).catch(only("worktree_unmerged", "task_not_found"));
    assert.ok(refusal === undefined, "what was not merged was removed, although nobody forced it");
    tell("experiment has work that is merged nowhere, so it is only removed by force");
    const isRemoved = ({ removed }) => removed;
    await reach("experiment", isRemoved, () => tasks.remove("experiment", { force: true }));

    const wanted = { cwd: repository, quota: 0 };
    const promised = await again(() => tasks.collect({ ...wanted, dryRun: true }));
    const collected = await again(() => tasks.collect(wanted));
    tell(`the worktrees of ${promised.removed.map(({ id }) => id).join(", ")} are collected`);
    for (const { id, why } of collected.kept) tell(`that of ${id} is kept: ${why}`);
    const views = await again(() => tasks.list({ cwd: repository }));
    return { stopped, resumed, refused, nothing, promised, collected, views };
  } finally {
    await log.close();
  }
}

/** Follows all events, prints them, and wakes everything that waits. */
function watch(tasks, onEvent, given) {
  const ending = new AbortController();
  const signal = given === undefined ? ending.signal : AbortSignal.any([ending.signal, given]);
  let wake = () => {};
  let fail = () => {};
  let next;
  const turn = () => {
    next = new Promise((resolve, reject) => ([wake, fail] = [resolve, reject]));
    next.catch(() => {}); // nothing may be waiting
  };
  turn();
  let after = 0;
  const following = again(async () => {
    for await (const { position, event } of tasks.follow({ after, signal })) {
      after = position;
      onEvent(event, position);
      wake();
      turn();
    }
  });
  following.then(
    () => fail(signal.reason),
    (error) => fail(error),
  );
  return {
    next: () => next,
    async close() {
      ending.abort(new Error("the story is over"));
      await following.catch(() => {});
    },
  };
}

const PATIENCE_MS = 30_000;
const PAUSE_MS = 50;

/** Repeats the work while the server is down. */
async function again(work) {
  const until = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isAway(error) || performance.now() > until) throw error;
      await sleep(PAUSE_MS);
    }
  }
}

/** True for errors of a client whose server is down or whose connection broke before the response. */
function isAway(error) {
  return error?.code === "server_unreachable" || (error instanceof TypeError && /fetch|terminated/.test(error.message));
}

/** For `catch`: ignores errors with one of these codes, throws others. */
function only(...codes) {
  return (error) => {
    if (!codes.includes(error?.code)) throw error;
  };
}

function wordsOf(id, { how, into, outcome, conflicts = [] }) {
  if (outcome === "merged") return `${id} is merged into ${into} (${how})`;
  if (outcome === "nothing") return `${id} changed nothing, so there is nothing to merge`;
  return `${id} is not merged, as the dry run said: ${outcome} in ${conflicts.join(", ")}`;
}

function isEnded({ status }) {
  return status === "done" || status === "failed" || status === "stopped";
}

const isStopped = ({ status }) => status === "stopped";
const isNotStopped = (view) => !isStopped(view);

function expectStatus(view, status) {
  assert.equal(view.status, status, `${view.id} is ${view.status}: ${view.message}`);
  return view;
}
