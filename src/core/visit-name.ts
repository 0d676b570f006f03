/** The customer of a shop who has said nothing of who they are: their visit, under a name that no claim may have. */
const VISIT = "visit:";

export function customerOfVisit(visitor: string): string {
  return VISIT + visitor;
}

export function isVisitName(customer: string): boolean {
  return customer.startsWith(VISIT);
}
