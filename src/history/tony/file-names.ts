/** The name of a job's settings in its staging and history folders, as TonY has it. */
export const tonyFinalXml = "tony-final.xml";
