#!/bin/sh
# The test of the greenhouse: no bed is planted twice.
twice=$(cat beds*.csv | grep '^[0-9]' | cut -d, -f1 | sort | uniq -d)
if [ -n "$twice" ]; then
    echo "bed $twice is planted twice"
    exit 1
fi
echo "every bed is planted once"
