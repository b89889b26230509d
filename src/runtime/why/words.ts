/** Returns the names of agents, people and issues by id. */
export interface Names {
  agent(id: string): string
  user(id: string): string
  issue(id: string): string
}

export const wordsOf = (name: string) => name.replaceAll(/[._]/g, ' ')

export const quoted = (text: string) => `“${oneLine(text)}”`

/** The maximum length of a quotation in a sentence. */
const QUOTED = 80

export function oneLine(text: string, longest = QUOTED): string {
  const line = text.replaceAll(/\s+/g, ' ').trim()
  return line.length > longest ? `${line.slice(0, longest - 1).toWellFormed()}…` : line
}

/** Prepares a message of the server for a sentence: it stays whole, without its full stop. */
export const reason = (message: string) => oneLine(message, 300).replace(/\.$/, '')
