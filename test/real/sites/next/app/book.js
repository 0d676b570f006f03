"use server";
// The server action of both forms.
import { revalidatePath } from "next/cache";
import { booked } from "./books.js";

export async function book(form) {
  const name = String(form.get("name"));
  booked().push(name);
  revalidatePath("/");
  return name;
}
