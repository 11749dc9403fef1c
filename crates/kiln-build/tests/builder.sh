#!/bin/sh
# Speaks as `kiln worker nvrtc` does, compiles nothing, and does what the name of the source says. Every compilation adds the
# number of this process to the file `processes` beside the source.
echo '{"id":0,"answer":{"ready":1}}'
orders=0
while read -r line; do
  orders=$((orders + 1))
  source=${line#*\"source\":\"}
  source=${source%%\"*}
  echo $$ >> "${source%/*}/processes"
  case "$source" in
    */good.cu) answer='{"passed":{"f":"f"}}' ;;
    */wrong.cu) answer='{"refused":{"orderly":true}}' ;;
    */broken.cu) answer='{"refused":{"orderly":false}}' ;;
    */fault.cu) answer='{"failed":"no library"}' ;;
    */nonsense.cu) answer='7' ;;
    # Dies where something was compiled before.
    */harmed.cu) [ "$orders" = 1 ] || kill -9 $$; answer='{"passed":{"f":"f"}}' ;;
    */exits.cu) exit 5 ;;
  esac
  echo "{\"id\":$orders,\"answer\":$answer}"
done
