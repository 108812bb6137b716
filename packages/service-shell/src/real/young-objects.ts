import { setFlagsFromString } from "node:v8";

/**
 * Has every object begin its life among the young ones, where one that is dropped soon costs nothing.
 *
 * By default V8 puts the objects of a place in the program that survived when it last looked straight among the old ones. After a start, or a
 * time with few requests, that is where it puts what is read of each request: dropped with the answer, but not noticed until the whole heap
 * is looked through, and until then keeping everything alive that it points to.
 */
export function keepNewObjectsYoung(): void {
  setFlagsFromString("--no-allocation-site-pretenuring");
}
