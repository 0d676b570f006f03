/** What the shop's page says of each product, beside what the catalogue knows, and where it stands. */
export const GROUPS = {
  tickets: ["front", "balcony", "standing"],
  bundles: ["evening"],
  extras: ["shirt", "programme"],
};

export const ABOUT = {
  front: "Row one, so close you hear the strings. Seats are numbered at the door.",
  balcony: "The whole stage, and the painted ceiling too.",
  standing: "On the floor in front of the stage. Dance if you like.",
  evening: "Two places of your choice, two drinks in the interval and a programme.",
  shirt: "Organic cotton, with the lamps on the back.",
  programme: "Forty pages, with the words of every song.",
};

/** Names for sets to choose from. */
export const SETS = { places: "Your two places", size: "Your size" };
