import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Command } from 'commander'
import { addDefaultVerb, moveGlobalOptions } from '../../../src/clients/cli/command-line.ts'

const words = (line: string) => line.split(' ').filter((word) => word !== '')

for (const [line, moved] of [
  ['--data-dir D status', 'status --data-dir D'],
  ['--data-dir=D -c TER issue list', 'issue list --data-dir=D -c TER'],
  ['--json issue --no-input view TER-1', 'issue view TER-1 --json --no-input'],
  ['--url http://a issue comment TER-1 -- --text', 'issue comment TER-1 --url http://a -- --text'],
  ['issue list --json', 'issue list --json'],
  ['--version --data-dir D', '--version --data-dir D'],
  ['--data-dir', '--data-dir'],
  ['', ''],
]) {
  test(`the command line "${line}" becomes "${moved}"`, () => {
    assert.deepEqual(moveGlobalOptions(words(line!)), words(moved!))
  })
}

const program = new Command('service')
program.addCommand(new Command('inbox').addCommand(new Command('list')).addCommand(new Command('read')))
program.addCommand(new Command('cost').addCommand(new Command('view').argument('[day]')))
program.addCommand(new Command('document').addCommand(new Command('list').argument('<issue>')))
program.addCommand(new Command('status'))

for (const [line, completed] of [
  ['inbox', 'inbox list'],
  ['inbox --unread', 'inbox list --unread'],
  ['inbox --help', 'inbox --help'],
  ['inbox read latest', 'inbox read latest'],
  ['inbox lsit', 'inbox lsit'],
  ['cost', 'cost view'],
  ['document', 'document'],
  ['status', 'status'],
]) {
  test(`the command line "${line}" runs "${completed}"`, () => {
    assert.deepEqual(addDefaultVerb(program, words(line!)), words(completed!))
  })
}
