/** Whether single letters act; a person may switch them off. */
export const lettersAct = (): boolean => localStorage.getItem("warren.letters") !== "off";
