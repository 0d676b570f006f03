/**
 * Table A.1 of Koopmans 2024 ("A distributed virtual waiting room"): the results of its simulation in each of 27 configurations,
 * averaged over a thousand runs. The target of 99999999 users, INF in Table 6.1, is null here: no limit.
 */

/** What is varied. */
export interface Configuration {
  /** The most users on the site at once. null: no limit. */
  readonly target: number | null;
  readonly users: number;
  /** How many nodes are added, and also how many are removed. */
  readonly changed: number;
  /** How long a user stays on the site. Default: leaves at once, as with Koopmans. */
  readonly stayMs?: number;
}

/** What Koopmans measured there. */
export interface KoopmansRow extends Configuration {
  readonly tau: number;
  readonly timeMs: number;
}

export const TARGETS: readonly (number | null)[] = [20, 100, null];
export const USERS: readonly number[] = [100, 500, 2_500];
export const CHANGES: readonly number[] = [0, 1, 5];

/** Koopmans' goal (section 2.2). */
export const KOOPMANS_TAU_MAX = 0.005;

/** In the order of targets, users and changes. */
export const KOOPMANS_TABLE: readonly KoopmansRow[] = [
  row([20, 100, 0], 0.000751, 100_276),
  row([20, 100, 1], 0.000765, 100_324),
  row([20, 100, 5], 0.000843, 100_436),
  row([20, 500, 0], 0.000157, 100_601),
  row([20, 500, 1], 0.000159, 100_642),
  row([20, 500, 5], 0.000177, 100_744),
  row([20, 2_500, 0], 3.01e-5, 137_183),
  row([20, 2_500, 1], 3.2e-5, 139_685),
  row([20, 2_500, 5], 3.9e-5, 145_619),
  row([100, 100, 0], 0.000751, 100_276),
  row([100, 100, 1], 0.000765, 100_324),
  row([100, 100, 5], 0.000843, 100_436),
  row([100, 500, 0], 0.000157, 100_601),
  row([100, 500, 1], 0.000159, 100_640),
  row([100, 500, 5], 0.000178, 100_740),
  row([100, 2_500, 0], 3.25e-5, 101_191),
  row([100, 2_500, 1], 3.73e-5, 101_238),
  row([100, 2_500, 5], 5.64e-5, 101_586),
  row([null, 100, 0], 0.000751, 100_276),
  row([null, 100, 1], 0.000765, 100_324),
  row([null, 100, 5], 0.000843, 100_436),
  row([null, 500, 0], 0.000157, 100_601),
  row([null, 500, 1], 0.000159, 100_640),
  row([null, 500, 5], 0.000178, 100_740),
  row([null, 2_500, 0], 3.25e-5, 101_191),
  row([null, 2_500, 1], 3.74e-5, 101_241),
  row([null, 2_500, 5], 5.8e-5, 101_596),
];

/** What Koopmans measured there, or null. */
export function koopmansRowOf({ target, users, changed }: Configuration): KoopmansRow | null {
  const isSame = (other: KoopmansRow) =>
    other.target === target && other.users === users && other.changed === changed;
  return KOOPMANS_TABLE.find(isSame) ?? null;
}

function row(
  [target, users, changed]: readonly [number | null, number, number],
  tau: number,
  timeMs: number,
): KoopmansRow {
  return { target, users, changed, tau, timeMs };
}
