/* A group is explained as a pod is: the server says which it found. */
export {render} from "./pod.js";
export const title = "Group";
