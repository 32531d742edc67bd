/** The headings of the OpenAPI document; each of our own routes stands under one. */
export const TAGS = {
  Principals: 'Who owns and governs things.',
  Users: 'People, who may be admins of the instance.',
  Groups: 'What several people own together, each in a role.',
  'Sign-in': 'How people come in: a provider, sessions, invitations, and the first admin.',
  Keys: 'Bearer tokens, shown once and stored as hashes.',
  Tools: 'What there is to enable for agents.',
  Settings:
    'What configures a tool. Later layers win: the declared default, the instance, the owner, the agent.',
  Audit: 'Who changed what, when, from what and to what.',
  Agents: 'Models with a system prompt, tools and limits.',
  'LLM configurations': 'Which models there are for agents, with their addresses and keys.',
  Tasks: 'Pieces of an agent’s work, from a prompt to a final response.',
  Approvals: 'Tool calls, and what people decide about them.',
  Notices: 'Where one is told of what waits and what has ended: webhooks and e-mail.',
  Media: 'Stored files and the links to them.',
  Reference: 'This document, and a page to browse it.',
} as const

export type Tag = keyof typeof TAGS
