// The shop's books, in memory and at one place for all bundles of the server.
export function booked() {
  globalThis.booked ??= [];
  return globalThis.booked;
}
