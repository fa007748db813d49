import { expect, it } from "vitest";
import { Tickets } from "./tickets.ts";

it("accepts a ticket once", () => {
  const tickets = new Tickets();
  const { ticket } = tickets.make();
  expect(ticket).toMatch(/^[\w-]{32}$/);
  expect([tickets.use(ticket), tickets.use(ticket)]).toEqual([true, false]);
});

it("refuses an expired ticket", () => {
  let now = 0;
  const tickets = new Tickets(() => now);
  const [early, late] = [tickets.make(), tickets.make()];
  now = 59_999;
  expect(tickets.use(early.ticket)).toBe(true);
  now = 60_000;
  expect(tickets.use(late.ticket)).toBe(false);
});

it("refuses a ticket that was never made, and an empty one", () => {
  const tickets = new Tickets();
  expect([tickets.use("nope"), tickets.use("")]).toEqual([false, false]);
});

it("keeps at most 100 tickets", () => {
  const tickets = new Tickets();
  const made = Array.from({ length: 101 }, () => tickets.make().ticket);
  expect(tickets.use(made[0]!)).toBe(false);
  expect(tickets.use(made[1]!)).toBe(true);
  expect(tickets.use(made[100]!)).toBe(true);
});
