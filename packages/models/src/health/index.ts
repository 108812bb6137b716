/** The health vocabulary without the rest of the domain model. */
export * from "./condition.ts";
export * from "./vocabulary.ts";
