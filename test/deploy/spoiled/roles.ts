import { ROLE } from '../synth/find.ts'
import { add, type Fault, find, rewriteRole } from './spoil.ts'

export const ROLE_FAULTS: Fault[] = [
  [
    'a statement that is missing',
    synthesis => rewriteRole(synthesis, { name: 'TickRole', change: each => each.slice(1) }),
    'In the role of tick, the statement',
  ],
  [
    'a right to anything',
    synthesis =>
      rewriteRole(synthesis, {
        name: 'ParkRole',
        change: each => [...each, { Effect: 'Allow', Action: ['s3:GetObject'], Resource: ['*'] }],
      }),
    'The role ParkRole allows s3:GetObject for every resource',
  ],
  [
    'a right to all but one thing',
    synthesis =>
      rewriteRole(synthesis, {
        name: 'ParkRole',
        change: each => [
          ...each,
          { Effect: 'Allow', NotAction: ['s3:GetObject'], Resource: ['a'] },
        ],
      }),
    'The role ParkRole has a NotAction',
  ],
  [
    'policies past IAM’s quota',
    synthesis =>
      rewriteRole(synthesis, {
        name: 'ParkRole',
        change: each => [
          ...each,
          { Effect: 'Allow', Action: ['a:b'], Resource: ['r'.repeat(10_240)] },
        ],
      }),
    'IAM takes 10240',
  ],
  [
    'a role that others may take on',
    synthesis => {
      find(synthesis, ROLE, 'ParkRole').inputs.assumeRolePolicy = {
        Version: '2012-10-17',
        Statement: [
          {
            Effect: 'Allow',
            Action: 'sts:AssumeRole',
            Principal: { Service: 'lambda.amazonaws.com', AWS: 'arn:aws:iam::123456789012:root' },
          },
        ],
      }
    },
    'Whom ParkRole trusts',
  ],
  [
    'a managed policy',
    synthesis => {
      find(synthesis, ROLE, 'ParkRole').inputs.managedPolicyArns = ['arn:aws:iam::aws:policy/Admin']
    },
    'The role ParkRole has the managed policy',
  ],
  [
    'a policy that is attached',
    synthesis => add(synthesis, 'aws:iam/rolePolicy:RolePolicy', {}),
    'gives what no role’s own text says',
  ],
  [
    'a machine that may invoke more',
    synthesis =>
      rewriteRole(synthesis, {
        name: 'WorkflowRole',
        change: () => [{ Effect: 'Allow', Action: ['lambda:InvokeFunction'], Resource: ['arn:x'] }],
      }),
    'What the state machine may do',
  ],
]
