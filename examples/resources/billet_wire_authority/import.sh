terraform import billet_wire_authority.this deployment=0123456789abcdef0123456789abcdef,state_dir=/var/lib/billet,file=/mnt/shared/billet/node-wire-authority.json
