// Runs inside a machine, whose kernel lets a process open enough files for 500 pods, and leaves the results in $LAB_OUT.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { measureSweeps, podsThatFit } from './sweep.js'

const sizes = (process.env.SWEEP_SIZES ?? '').split(',').map(Number)
const fit = podsThatFit()
if (Math.max(...sizes) > fit) throw new Error(`only ${fit} pods fit`)
const results = await measureSweeps(sizes, new AbortController().signal)
writeFileSync(join(process.env.LAB_OUT ?? '.', 'sweep.json'), JSON.stringify(results))
