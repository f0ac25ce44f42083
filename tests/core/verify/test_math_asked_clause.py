r"""An answer's words are read by what the question asks for, with honest twins; numbers in words; parallel headings."""

from __future__ import annotations

import pytest

from agentscope_tuner.verify.asked_clause import _said
from agentscope_tuner.verify.find import find_answer
from agentscope_tuner.verify.math.verdict import compare
from agentscope_tuner.verify.number_words import number_in_words
from agentscope_tuner.verify.sandbox import shared
from tests.tables import first, together

# question | reference | right answers | wrong answers, parted by two semicolons
ASKED = r"""
Find the least common multiple of 4 and 6. | 12 | \text{LCM}(4,6)=12 ;; LCM(4,6)=12 | \text{GCD}(4,6)=12 ;; \text{LCM}(4,6) ;; \text{LCM}(4,6)=24
Find the greatest common divisor of 4 and 6. | 2 | GCD(4,6)=2 ;; \text{HCF}(4,6)=2 ;; \text{GCF}(4,6)=2 | \text{LCM}(4,6)=2 ;; \text{GCD}(4,6)
Find the modulus of $z=3+4i$. | 5 | \left\vert z\right\vert=5 ;; 5 | \left\vert z\right\vert=6
Wie groß ist der Abstand der zwei Punkte? Runde auf zwei Nachkommastellen. | 3,14 | 3.14 ;; 3{,}14 | 314
Bestimme die Strecke in km. | 54 | 54\text{ km} ;; 54 | 54\text{ km/h}
What is the speed in km/h? | 72 | 72\text{ km/h} ;; 72\ \mathrm{km\,h^{-1}} | 72\text{ m/s}
甲的速度是多少千米/时？ | 60 | 60\text{千米/时} ;; 60\text{ km/h} | 60\text{米/秒}
Solve the system $2x_1+x_2=7$, $x_1+x_2=5$. | 2, 3 | x_1=2, x_2=3 ;; x_2=3, x_1=2 | x_1=3, x_2=2 ;; x_2=2, x_1=3
Solve $x^2-5x+6=0$. | 2, 3 | x_1=3, x_2=2 ;; x_1=2, x_2=3 | x_1=3, x_2=1
Find the eigenvalues of the matrix. | 1, 3 | \lambda_1=3, \lambda_2=1 ;; \lambda_1=1, \lambda_2=3 | \lambda_1=3, \lambda_2=3
Find their lcm. Two numbers have product 96 and gcd 4. | 24 | \operatorname{lcm}(a,b)=24 | \gcd(a,b)=24
Let $F_1$ and $F_2$ be forces. Find $F_1$. | 7 | F_1=7 ;; F_1=3+4=7 | F_1=3, F_2=7 ;; F_1=3\text{ or }F_1=7
José buys 2.375 kg of rice and 1.5 kg of beans. How many kilograms is that? | 3.875 | 3.875\text{ kg} | 3,875
Zoë saves \$150 a month. How many dollars has she saved after 30 months? | 4500 | 4,500 | 4.500
Runde 12,3456 auf zwei Stellen nach dem Komma. | 12.35 | 12,35 ;; 12{,}35 | 1,235
Runde 2,6 und 6,9 auf ganze Zahlen. Nenne beide Ergebnisse. | 3,7 | 3, 7 ;; 3\text{ und }7 | 3.7
Gib den Mittelpunktswinkel im Bogenmaß an. | 2 | 2 | 2^\circ
Add meg a legnagyobb közös osztót és a legkisebb közös többszöröst. | 5, 30 | 5 \text{ és } 30 | 30, 5
Berechne $-9\cdot 4$. | -36 | \text{minus }36 | \text{plus }36
How many minutes does the trip take? | 150 | 2\text{ h }30\text{ min} = 150\text{ min} ;; 150\text{ min}=2\text{ h }30\text{ min} | 2\text{ h }30\text{ min} = 160\text{ min} ;; 2\text{ h }30\text{ min} = 150\text{ s}
How tall is he in inches? | 63 | 5\text{ ft }3\text{ in}=63\text{ in} | 5\text{ ft }3\text{ in}=64\text{ in} ;; 5\text{ ft}=63\text{ in}
长方形的长是5，宽是3，面积是多少？ | 15 | 15\text{平方单位} ;; 15\text{个单位} | 15\text{立方米}
一块长方形土地的面积是多少公顷？ | 10 | 10\text{公顷} | 10\text{平方米}
Quanti euro ha speso? | 25 | 25\text{ €} ;; 25\text{ euro} ;; €25 | 25\,\$ ;; 25\text{ ha}
Wie viel Euro kostet es? | 25 | 25\,€ ;; 25\text{ Euro} | 25\,\$ ;; \$25
Combien d'euros a-t-il dépensés ? | 25 | 25\text{ €} | 25\,\$
La suite vérifie $u_0=1$ et $u_{n+1}=3u_n$. Déterminer $u_n$. | 3^n | u_n=3^n\text{ pour tout }n\in\mathbb{N} ;; u_n=3^n\text{ pour tout entier naturel }n | u_n=3^n\text{ pour tout }n\text{ pair} ;; u_n=3^n\text{ pour presque tout }n
Sam earns \$10 an hour for 40 hours a week. How much does he earn per week? | 400 | \$400\text{ per week} ;; \$400\text{ a week} ;; \$400\text{ each week} ;; 400\text{ dollars a week} ;; \$400 | 400\text{ dollars per day} ;; \$400\text{ a day} ;; 400\text{ weeks}
How many hours does he work a week? | 40 | 40\text{ hours a week} ;; 40\text{ hours per week} ;; 40\text{ hours} | 40\text{ hours a day} ;; 40\text{ weeks}
How many pages does she read every day? | 12 | 12\text{ pages a day} ;; 12\text{ pages every day} ;; 12\text{ pages per day} | 12\text{ pages a week} ;; 12\text{ pages an hour}
How far does he run each day? | 3 | 3\text{ miles each day} ;; 3\text{ miles a day} | 3\text{ miles an hour} ;; 3\text{ days}
How far does he run in all? | 3 | 3\text{ miles} | 3\text{ miles each day} ;; 3\text{ miles a day}
A car uses 10 gallons on 300 miles. What is its fuel efficiency in miles per gallon? | 30 | 30\text{ mpg} ;; 30\text{ miles per gallon} ;; 30\text{ miles a gallon} | 30\text{ gallons per mile} ;; 30\text{ mph} ;; 30\text{ miles per hour}
Tom earned \$120 and Ann \$80. How much more did Tom earn? | 40 | \$40\text{ more} ;; 40\text{ dollars more} | \$40\text{ less} ;; 40\text{ times more}
Ann has 12 apples and Ben 7. How many fewer apples does Ben have? | 5 | 5\text{ fewer apples} ;; 5\text{ fewer} | 5\text{ more apples} ;; 5\text{ more}
There are 5 dogs. How many boys are there? | 1 | 1\text{ boy} ;; \text{1 boy} | 1\text{ dog} ;; 1\text{ box}
How many pens does she buy? | 1 | 1\text{ pen} | 1\text{ pan} ;; 1\text{ pence}
How many cats has the girl? | 3 | 3\text{ cats} ;; 3\text{ cats of the girl} | 3\text{ girls} ;; 3\text{ girl}
How many legs does the dog have? | 4 | 4\text{ legs} ;; 4\text{ dog legs} | 4\text{ dogs}
How many of the apples are red? | 3 | 3\text{ apples} ;; 3\text{ red apples} ;; 3\text{ of the apples} | 3\text{ pears}
Each bag holds 5 apples. How many apples are in the 3 bags? | 15 | 15\text{ apples in the bags} | 15\text{ bags}
Combien de pommes la fille a-t-elle ? | 3 | 3\text{ pommes} | 3\text{ filles}
Combien l'entier $2520$ possède-t-il de diviseurs positifs ? | 48 | 48\text{ diviseurs} ;; 48\text{ diviseurs positifs} | 48\text{ multiples}
A bottle holds 1.5 liters. How many glasses of 250 ml can you fill? | 6 | 6\text{ glasses} | 6\text{ liters} ;; 6\text{ ml}
How many bags of 5 kg are there? | 5 | 5\text{ bags} | 5\text{ kg}
How many square meters of carpet are needed? | 12 | 12\text{ square meters} ;; 12\text{ m}^2 | 12\text{ m}
How many minutes do the 3 trips take? | 5 | 5\text{ min} ;; 5\text{ minutes} | 5\text{ kg}
Een fles bevat 1,5 liter sap. Hoeveel glazen van 250 ml kun je vullen? | 6 | 6\text{ glazen} | 5 of 6 ;; 5\text{ of }6
A cube has the volume $216\text{ cm}^3$. Find its surface area. | 216 | 216\text{ cm}^2 ;; 216\ \text{cm}^2 | 216\text{ cm}^3
A train has 8 wagons with 40 seats each. How many seats are there on the train? | 320 | 320\text{ seats} ;; 320\text{ seats on the train} ;; 320\text{ seats in the wagons} | 320\text{ seats per wagon} ;; 320\text{ seats a wagon} ;; 320\text{ seats in the wagon}
A bus has 1 driver and 40 seats. How many seats are there? | 40 | 40\text{ seats in the bus} | 40\text{ drivers}
There are 3 classes with 12 boys each. How many boys are there? | 36 | 36\text{ boys} ;; 36\text{ boys in the classes} | 36\text{ boys in the class} ;; 36\text{ boys per class}
Un treno ha 8 vagoni con 40 posti l'uno. Quanti posti ci sono sul treno? | 320 | 320\text{ posti sul treno} | 320\text{ posti per vagone}
How many apples does Ben have? | 5 | 5\text{ apples} | 5\text{ more apples} ;; 5\text{ fewer}
Löse das Gleichungssystem. | (4,3) | \mathbb{L}=\{(4\mid 3)\} ;; L=\{(4\vert 3)\} | (3\mid 4) ;; (4\mid -3) ;; 4\mid 3
Bestimme den Scheitelpunkt. | (\frac12,-3) | S(0,5\mid -3) ;; (\frac{1}{2}\mid -3) | (-3\mid 0,5) ;; (5\mid -3)
Запишите дробь десятичной. | 0.1\overline{6} | 0,1(6) ;; 0.1(6) ;; \frac16 | 0,16 ;; 0,(16) ;; 0,1\cdot 6
Find $\int \sin x\cos x\,dx$. | \frac{1}{2}\sin^2 x+C | -\frac14\cos 2x+C ;; -\frac12\cos^2 x+c ;; C-\frac14\cos 2x ;; -\frac14(\cos 2x+1)+C | \frac14\cos 2x+C ;; \frac12\sin^2 x+x+C ;; \frac12\sin^2 x ;; \frac12\sin^2 x+C^2 ;; \frac12\sin^2 x+Cx ;; -\frac14\cos x+C
Find $\int \frac{x\,dx}{x^2+1}$. | \frac12\ln(x^2+1)+C | \frac12\ln(2x^2+2)+C ;; \ln\sqrt{x^2+1}+C | \frac12\ln(x^2+2)+C ;; \frac14\ln(x^2+1)+C
Find $\int \frac{dx}{x}$ for $x>0$. | \ln x+C | \ln(3x)+C ;; \ln\frac{x}{2}+c | 3\ln x+C ;; \ln(x+3)+C
Find $\int \frac{dx}{a^2+x^2}$. | \frac1a\arctan\frac xa+C | \frac1a\left(\arctan\frac xa+\pi\right)+C | \frac1a\arctan\frac ax+C ;; \frac1x\arctan\frac xa+C
Find every $f$ with $f'(x)=2x+2$. | f(x)=x^2+2x+C | f(x)=(x+1)^2+C ;; f(x)=C+x(x+2) | f(x)=(x+2)^2+C ;; f(x)=(x+1)^2
Let $a,b>0$ be given. Find the mean. | a\sqrt b | \sqrt{a^2b} ;; \sqrt{b}\sqrt{a^2} | -\sqrt{a^2b}
Let $k$ and $a,b>0$ be given. Find the mean. | k\sqrt b |  | \sqrt{k^2b} ;; \lvert k\rvert\sqrt b
Let $k$, $b>0$ be given. Find the mean. | k\sqrt b |  | \sqrt{k^2b}
For positive numbers $a$ and $b$ and a real $d$, find the mean. | a\sqrt b | \sqrt{a^2b} | -\sqrt{a^2b}
For positive numbers $a$ and $b$ and a real $d$, find the mean. | d\sqrt b |  | \sqrt{d^2b}
A taxi costs $C$ dollars, and 2 dollars a mile. What does a ride of $x$ miles cost? | 2x+C |  | 2x+3+C ;; 2(x+1)+C
Does the series $\sum 1/n$ converge or diverge? | \text{diverges} | \text{diverges} ;; \text{The series diverges} ;; \text{it diverges} ;; \text{The series }\text{diverges} | \text{diverges (converges)} ;; \text{diverges }(\text{converges}) ;; \text{converges diverges} ;; \text{diverges/converges} ;; \text{converges} (\text{diverges}) ;; \text{diverges, converges} ;; \text{diverge (converge)}
Is the function $x^3$ odd, even or neither? | \text{odd} | \textbf{odd function} ;; \text{odd function} ;; \text{an odd function} ;; \text{The function is odd} ;; \text{It is odd} ;; \textbf{odd} ;; \text{it is an odd function} | \text{odd (even)} ;; \text{odd (neither)} ;; \text{even function} ;; \textbf{even} ;; \text{odd even} ;; \text{not odd} ;; \text{neither odd}
Who is older, Ana or Ben? | \text{Ben} | \text{Ben is older} ;; \text{Ben} ;; \text{It is Ben} | \text{Ana is older} ;; \text{Ben (Ana)} ;; \text{Ben or Ana} ;; \text{Ana or Ben is older} ;; \text{Ben is older than Ana or Ana is older} ;; \text{Ben is not older} ;; \text{older than Ben} ;; \text{Ana is older than Ben} ;; \text{Ben/Ana}
Which is greater, $2^{30}$ or $3^{20}$? | 3^{20} | 3^{20}>2^{30} ;; 2^{30}<3^{20} ;; 3^{20} | 3^{20}<2^{30} ;; 2^{30}>3^{20} ;; 2^{30}\text{ or }3^{20} ;; \max(2^{30},3^{20}) ;; \max\{2^{30},3^{20}\} ;; 3^{20}, 2^{30} ;; 3^{20}=2^{30} ;; 2^{30}\ge 3^{20} ;; \text{the greater of }2^{30}\text{ and }3^{20}
Which is larger, $\sqrt{10}$ or $\pi$? | \sqrt{10} | \sqrt{10}>\pi ;; \pi<\sqrt{10} | \pi>\sqrt{10} ;; \sqrt{10}<\pi ;; \max(\sqrt{10},\pi) ;; \max\{\pi,\sqrt{10}\}
Which is smaller, 0.3 or 1/3? | 0.3 | 0.3<\frac13 ;; \frac13>0.3 | 0.3>\frac13 ;; \min(0.3,1/3) ;; \min\left(0.3,\frac13\right) ;; \min\{0.3,1/3\} ;; 1/3<0.3
What is the largest of 12, 15 and 21? | 21 |  | \max(12,15,21) ;; \max\{12,15,21\} ;; \max(12,\max(15,21)) ;; \sup\{12,15,21\}
Find $x$. | 17 |  | \max(16,17) ;; \min(17,18) ;; \max\{16,17\} ;; \operatorname{max}(16,17) ;; \min\{17,18\}
Ist 91 prim oder zusammengesetzt? | \text{zusammengesetzt} | \text{zusammengesetzt} | \text{zusammengesetzt (prim)} ;; \text{prim oder zusammengesetzt} ;; \text{prim (zusammengesetzt)} ;; \text{nicht zusammengesetzt}
¿La función es par o impar? | \text{impar} | \text{impar} ;; \text{La función es impar} ;; \text{es impar} | \text{impar (par)} ;; \text{par o impar} ;; \text{par (impar)} ;; \text{par}
La série converge ou diverge ? | \text{diverge} | \text{La série diverge} | \text{diverge (converge)} ;; \text{converge ou diverge}
该级数收敛还是发散？ | 发散 | \text{发散} ;; \text{该级数发散} ;; \text{级数发散} | \text{发散（收敛）} ;; \text{收敛或发散} ;; \text{收敛发散} ;; \text{收敛}
What is the square of 6? | 36 | \text{the square is }36 ;; \text{square}=36 | \text{the square of }36 ;; \text{square of }36 ;; \text{The square of } 36
Find the number of divisors of 60. | 12 | \text{the number of divisors is }12 ;; \text{number of divisors}=12 | \text{the number of divisors of }12 ;; \text{number of divisors of }12 ;; \text{The number of divisors of } 12
What is the cube of 3? | 27 | \text{the cube is }27 ;; \text{cube}=27 | \text{the cube of }27 ;; \text{cube of }27 ;; \text{The cube of } 27
What is the square root of 144? | 12 | \text{the square root is }12 ;; \text{square root}=12 | \text{the square root of }12 ;; \text{square root of }12 ;; \text{The square root of } 12
Find the reciprocal of $\frac14$. | 4 | \text{the reciprocal is }4 ;; \text{reciprocal}=4 | \text{the reciprocal of }4 ;; \text{reciprocal of }4 ;; \text{The reciprocal of } 4
What is the factorial of 5? | 120 | \text{the factorial is }120 ;; \text{factorial}=120 | \text{the factorial of }120 ;; \text{factorial of }120 ;; \text{The factorial of } 120
Find the sum of the digits of 345. | 12 | \text{the sum of the digits is }12 ;; \text{sum of the digits}=12 | \text{the sum of the digits of }12 ;; \text{sum of the digits of }12 ;; \text{The sum of the digits of } 12
Find the absolute value of -7. | 7 | \text{the absolute value is }7 ;; \text{absolute value}=7 | \text{the absolute value of }7 ;; \text{absolute value of }7 ;; \text{The absolute value of } 7
What is the opposite of -9? | 9 | \text{the opposite is }9 ;; \text{opposite}=9 | \text{the opposite of }9 ;; \text{opposite of }9 ;; \text{The opposite of } 9
Find the number of factors of 36. | 9 | \text{the number of factors is }9 ;; \text{number of factors}=9 | \text{the number of factors of }9 ;; \text{number of factors of }9 ;; \text{The number of factors of } 9
Find the product of the digits of 234. | 24 | \text{the product of the digits is }24 ;; \text{product of the digits}=24 | \text{the product of the digits of }24 ;; \text{product of the digits of }24 ;; \text{The product of the digits of } 24
What is the successor of 99? | 100 | \text{the successor is }100 ;; \text{successor}=100 | \text{the successor of }100 ;; \text{successor of }100 ;; \text{The successor of } 100
What is the double of 21? | 42 | \text{the double is }42 ;; \text{double}=42 | \text{the double of }42 ;; \text{double of }42 ;; \text{The double of } 42
Wie viele einzelne Socken sind 7 Paar Socken? | 14 | 14\text{ Socken} ;; 14\text{ einzelne Socken} | 14\text{ Paar} ;; 14\text{ Paare}
Combien d'œufs y a-t-il dans 5 boîtes ? | 30 | 30\text{ œufs} | 30\text{ boîtes}
Divide 292 by 17 with remainder. | 17\text{ R }3 | 17\text{ R }3 ;; 17\text{ remainder }3 ;; 17\text{ Rest }3 ;; \text{商}17\text{余}3 ;; 17\ r\ 3 ;; 17\cdots\cdots 3 | 3\text{ R }17 ;; 17\text{ R }4 ;; 3\text{ remainder }17 ;; 3\cdots\cdots 17 ;; 51
Find the perimeter A of the square with side 5. | 20 | A=20 ;; P=20 ;; 20 | \text{area}=20
Find the perimeter of a square with side 5. | 20 | P=20 ;; 20 | A=20
Find the nth term of 2, 5, 8. | 3n-1 | a_n=2+(n-1)\cdot 3=3n-1 ;; a_n=3n-1 ;; 2+3(n-1)=3n-1 | a_n=2+3(n-1)=3n+1 ;; a_n=3n-1=3n+2 ;; a_n=3n-1=0
Write $2(x+1)$ without parentheses as a function $y$. | 2x+2 | y=2(x+1)=2x+2 ;; y=2x+2 | y=2(x+1)=2x+1 ;; y=2x=2x+2
Anna is 150 cm tall, Ben is 162 cm and Clara is 171 cm. Who is the tallest? | \text{Clara} | \text{Clara} ;; \text{Clara is the tallest} ;; \text{It is Clara} ;; \text{Clara, the tallest} | \text{Anna, Ben, Clara} ;; \text{Anna and Clara} ;; \text{Clara and Ben} ;; \text{Clara/Anna} ;; \text{Clara; Ben}
Ein Quadrat, ein Rechteck und ein Trapez sind gezeichnet. Welches Viereck hat vier Symmetrieachsen? | \text{Quadrat} | \text{Quadrat} ;; \text{das Quadrat} ;; \text{Das Quadrat ist es} | \text{Quadrat, Rechteck} ;; \text{Rechteck und Quadrat}
Sort the numbers 7, 5, 9 in descending order. | 9, 7, 5 | 9, 7, 5 ;; 9>7>5 | 5, 7, 9 ;; 5, 7, 9, 9 ;; 9, 7, 5, 5
Solve $x^2-3x+2=0$. | 1, 2 | 2, 1 ;; 1, 2, 2 ;; x=1, x=2 | 1, 1 ;; 1, 2, 3
List the prime factors of 12 with repetition. | 2, 2, 3 | 3, 2, 2 ;; 2, 3, 2 | 2, 3 ;; 2, 3, 3, 2 ;; 2, 2, 2, 3
Find the ordered pair $(x,y)$ with $x+y=3$ and $y-x=1$. | (1,2) | (1,2) ;; x=1, y=2 | 1<x<2 ;; ]1,2[ ;; \{x : 1<x<2\}
On which interval is $(x-1)(x-2)$ negative? | (1,2) | 1<x<2 ;; ]1,2[ ;; (1,2) | 1<x<3 ;; 1\le x\le 2
Tom has twice as many marbles as Anna, and together they have 12. How many marbles does Tom have? | 8 | \text{Tom has }8\text{ marbles} ;; 8\text{ marbles} ;; \text{He has }8\text{ marbles} | \text{Anna has }8\text{ marbles} ;; \text{Anna has }8
Erik har 3 hundar och fem fler katter än hundar. Hur många katter har han? | 8 | 8\text{ katter} ;; \text{Erik har }8\text{ katter} | 8\text{ hundar}
Bahçede elma ve armut ağaçları toplam 15, elma iki katı. Elma sayısı nedir? | 10 | 10\text{ elma} | 10\text{ armut}
A bat and a ball cost 110 cents; the bat costs 100 cents more than the ball. What does the bat cost? | 105 | \text{The bat costs }105 ;; 105\text{ cents} | \text{The ball costs }105
Maria bought 20 apples and ate 8. How many does she have left? | 12 | 12\text{ apples} ;; \text{Maria has }12\text{ apples} ;; \text{She has }12\text{ apples left} | 20\text{ apples}
Find all integer solutions of $x^2=2$. | \text{no solution} | \text{no solutions} ;; \text{no integer solutions} ;; \text{The equation has no solution} | \text{no real solutions}
Solve $x^2+1=0$. | \text{no solution} | \text{no real solutions} ;; \text{no solution} | \text{the series diverges}
Find $\lim_{x\to0}\sin\frac1x$. | \text{does not exist} | \text{the limit does not exist} ;; \text{DNE} | \text{the sequence does not exist} ;; \text{the inverse does not exist}
Is 9 a prime number? | \text{No} | \text{No} ;; \text{No, it is not prime} ;; \text{No, } 9=3\cdot 3 ;; \text{No, because it is divisible by 3} | \text{No, because 9 is prime} ;; \text{No, it is a prime} ;; \text{Yes}
Solve $y'=y$. | y=Ce^{x} | y=Ce^{x}, C\in\mathbb{R} ;; y=Ce^{x}\text{ where } C \text{ is a constant} ;; y=Ce^{x}\text{ for any real } C | y=Ce^{x} \text{ where } C>0 ;; y=Ce^{x} \text{ where } C \text{ is positive} ;; y=Ce^{x}\text{ for integer } C
Le logarithme décimal est noté log. Écrire $\log 2+\log 5$ comme un seul logarithme. | \log 10 | \log(10) | \ln 10
How many legs do 6 dogs have? | 24 | 24\text{ legs} | 24\text{ dogs}
How many of the 9 apples are left? | 4 | 4\text{ apples} ;; 4\text{ apples left} | 4\text{ of the 9 apples, or 5}
5双筷子一共有多少根筷子？ | 10 | 10\text{根} ;; 10根 ;; 10 | 10\text{双} ;; 10双
12根筷子是几双筷子？ | 6 | 6\text{双} ;; 6双 ;; 6 | 7\text{双}
How many more apples than pears does Mia have? | 7 | 7\text{ more apples} ;; 7\text{ more} ;; 7\text{ apples} ;; 7\text{ more apples than pears} | \text{more than }7 ;; \text{at least }7
Combien d'élèves ne mangent pas à la cantine ? | 9 | 9\text{ élèves} ;; 9\text{ élèves ne mangent pas à la cantine} | 9\text{ élèves mangent à la cantine} ;; 9\text{ mangent}
¿Cuántos alumnos suspendieron, si 18 aprobaron? | 6 | 6\text{ alumnos suspendieron} ;; 6\text{ alumnos} ;; 6\text{ suspendieron} | 6\text{ alumnos aprobaron} ;; 6\text{ aprobaron}
There are 30 students in a class. 18 are girls. How many boys are there? | 12 | 12\text{ boys} ;; \text{There are }12\text{ boys} ;; \text{There are }12\text{ boys in the class} ;; \text{boys}=12 ;; 12\text{ boys in the class} ;; \text{boys: }12 | 12\text{ girls} ;; 12\text{ elephants} ;; 12\text{ girls are there} ;; \text{There are }12\text{ girls} ;; 12\text{ teachers} ;; \text{girls}=12 ;; \text{girls: }12 ;; 12\text{ bananas}
How many students do not play chess, if 13 of 30 play it? | 17 | 17\text{ students} ;; 17\text{ do not play chess} ;; 17\text{ students do not play chess} ;; 17\text{ students don't play chess} | 17\text{ play chess} ;; 17\text{ students play chess} ;; 17\text{ students play it}
Of 40 apples, 9 are rotten. How many apples are not rotten? | 31 | 31\text{ apples} ;; 31\text{ apples are not rotten} | 31\text{ rotten apples} ;; 31\text{ are rotten} ;; 31\text{ rotten}
Wie viele Schüler spielen nicht Fußball, wenn 11 von 30 Fußball spielen? | 19 | 19\text{ Schüler} ;; 19\text{ spielen nicht Fußball} ;; 19\text{ Schüler spielen nicht Fußball} | 19\text{ spielen Fußball} ;; 19\text{ Schüler spielen Fußball}
Сколько учеников не пришли, если пришли 22? | 8 | 8\text{ учеников} ;; 8\text{ учеников не пришли} ;; 8\text{ не пришли} | 8\text{ учеников пришли} ;; 8\text{ пришли}
Tom has 5 red and some blue marbles, 12 in all. How many blue marbles does Tom have? | 7 | 7\text{ blue marbles} ;; 7\text{ marbles} ;; 7\text{ blue} ;; \text{Tom has }7\text{ blue marbles} | 7\text{ red marbles} ;; 7\text{ red} ;; 7\text{ giraffes}
Find the distance from $P$ to the line, given that the distance from $P$ to the plane is 4. | 6 | \text{distance from }P\text{ to the line}=6 | \text{distance from }P\text{ to the plane}=6
In triangle with $P=25$ as perimeter, find the area $A$. | 30 | A=30 ;; \text{area}=30 | P=30 ;; \text{perimeter}=30
The data are 3, 5, 10. Find the median. | 5 | \text{median}=5 ;; 5 | \bar x=5 ;; \text{mean}=5 ;; \bar{x}=5 ;; \sigma=5 ;; \overline{x}=5
Find the mean of 2, 4 and 9. | 5 | \bar x=5 ;; \bar{x}=5 ;; \text{mean}=5 ;; \mu=5 | \text{median}=5
Give the number of rows and the number of columns. | 3, 2 | 3, 2 ;; 3\text{ and }2 ;; (3,2) ;; 3\text{ rows and }2\text{ columns} | 2, 3 ;; 2\text{ and }3
State the number of edges and the number of faces of a cube. | 12, 6 | 12, 6 | 6, 12
Rank the fractions 1/2, 2/3, 3/5 from lightest to heaviest. | 1/2, 3/5, 2/3 |  | 2/3, 3/5, 1/2
List the runners' times 12, 9, 15 from fastest to slowest. | 9, 12, 15 | 9, 12, 15 ;; 9,12,15 | 15, 12, 9 ;; 12, 9, 15
First find $a$, then find $b$. | 4, 7 | 4, 7 ;; a=4, b=7 | 7, 4
Gib zuerst die Anzahl der Ecken, dann die Anzahl der Kanten an. | 8, 12 |  | 12, 8
Donnez le nombre de sommets et le nombre d'arêtes d'un cube. | 8, 12 |  | 12, 8
¿Cuántos años tienen Ana y Luis? | 12, 15 |  | 15, 12
How old are Mia and Noah? | 12, 15 | 12, 15 ;; 12\text{ and }15 ;; \text{Mia: }12, \text{Noah: }15 | 15, 12
Wie alt sind Anna und Ben? | 12, 15 |  | 15, 12
Укажите число вершин и число рёбер куба. | 8, 12 |  | 12, 8
Indica el número de caras y el número de aristas de un cubo. | 6, 12 |  | 12, 6
甲、乙两人各有多少元？ | 12, 8 |  | 8, 12
Find the roots of $x^2-5x+6$. | 2, 3 | 3, 2 ;; 2\text{ and }3 |
Find the two prime factors of 15. | 3, 5 | 5, 3 |
What is the average of 12, 15 and 21? | 16 |  | \frac{48}{3} ;; 48/3 ;; 48\div 3
A car goes 150 miles in 2.5 hours. Find its speed in mph. | 60 |  | \frac{300}{5} ;; \frac{1500}{25} ;; 600/10
Find the mean of 4, 8 and 9. | 7 |  | \frac{21}{3} ;; 21/3
A fair die is rolled. What is the probability of an even number? | \frac12 | \frac{3}{6} ;; 3/6 |
Find the slope. | \frac{3}{4} | \frac{6}{8} |
Round $\pi$ to two decimals. | 3.14 | \pi\approx3.14 ;; 3.14 | \pi\approx3.14159 ;; 3.14159 ;; \pi ;; 3.1416
Round $\sqrt2$ to the nearest tenth. | 1.4 | 1.4 | 1.41 ;; \sqrt2 ;; \sqrt2\approx 1.414
Write $1+i$ in polar form. | \sqrt2 e^{i\pi/4} | \sqrt2 e^{\frac{i\pi}{4}} ;; \sqrt2(\cos\frac\pi4+i\sin\frac\pi4) | 1+i
Convert the complex number to polar form: $2i$. | 2e^{i\pi/2} |  | 2i ;; 0+2i
Combien y en a-t-il ? | 80 | \text{quatre-vingts} | \text{quatre-vingts ou quatre-vingt-un}
Combien y en a-t-il ? | 97 | \text{quatre-vingt-dix-sept} |
Combien y en a-t-il ? | 71 | \text{soixante et onze} |
Quanti sono? | 7 | \text{sette} | \text{sei} ;; \text{sette o otto}
Quanti sono? | 28 | \text{ventotto} |
Wie viele sind es? | 42 | \text{zweiundvierzig} | \text{vierundzwanzig}
Wie viele sind es? | 7 | \text{sieben} | \text{sieben oder acht}
Wie viele sind es? | 121 | \text{einhunderteinundzwanzig} |
¿Cuántos hay? | 35 | \text{treinta y cinco} | \text{treinta y seis}
¿Cuántos hay? | 22 | \text{veintidós} |
¿Cuántos hay? | 120 | \text{ciento veinte} |
Сколько их? | 21 | \text{двадцать один} | \text{двадцать два}
Сколько их? | 5 | \text{пять} |
Сколько их? | 340 | \text{триста сорок} |
Quantos são? | 16 | \text{dezesseis} |
Quantos são? | 45 | \text{quarenta e cinco} |
Combien y en a-t-il ? | 7 |  | \text{huit}
Wie viele sind es? | 100 |  | \text{hundert eins}
Combien y en a-t-il ? | 24 |  | \text{quatre-vingts}
Combien d'élèves y a-t-il ? | 12 | \text{douze élèves} |
Wie viele Äpfel sind es? | 3 | \text{drei Äpfel} | \text{drei Birnen} ;; \text{drei Dutzend}
¿Cuántas manzanas hay? | 4 | \text{cuatro manzanas} |
What is $1-\frac12$? | \frac12 | \text{one half} |
What fraction is left? | \frac34 | \text{three quarters} ;; \text{three fourths} |
What fraction is left? | \frac23 | \text{two thirds} | \text{three halves} ;; \text{two} ;; \text{one third}
Верно ли утверждение? | \text{да} | \text{Да, верно} ;; \text{да} ;; \text{Да} ;; \text{Да, утверждение верно} | \text{Да, неверно} ;; \text{нет} ;; \text{Да, нет} ;; \text{неверно}
Is 7 prime? | \text{Yes} | \text{Yes, it is} ;; \text{Yes, 7 is prime} ;; \text{Yes, it is prime} ;; \text{Yes, that is true} | \text{Yes, it is not} ;; \text{Yes, no} ;; \text{Yes, 7 is not prime} ;; \text{Yes or no} ;; \text{Yes (no)} ;; \text{Yes, false}
¿Es primo 7? | \text{sí} | \text{Sí, es primo} ;; \text{Sí} | \text{Sí, no es primo} ;; \text{no}
Ist 7 prim? | \text{ja} | \text{Ja, 7 ist prim} ;; \text{Ja} | \text{Ja, 7 ist nicht prim} ;; \text{nein}
Solve $\sin x=0$. | x=n\pi, n\in\mathbb{Z} | x=n\pi\ (n\text{ is an integer}) | x = \pi n,\ n \text{ an even integer} ;; x=n\pi,\ n\text{ a prime} ;; x=n\pi,\ n\text{ odd}
What is the ratio of boys to girls? | 3:5 | \text{3 to 5} ;; 3\text{ to }5 | \text{5 to 3}
What is the pH of the solution? | 7 | \text{pH}=7 ;; \mathrm{pH}=7 | \text{pOH}=7
Solve the inequality $x^2<9$. | (-3,3) | -3<x<3 |
Write 6 in base 2. | 110 | 110_2 ;; 110_{2} ;; (110)_2 | 110_3 ;; 101_2 ;; 6_{10}
Find the domain of $x^3-x$. | \mathbb{R} | \text{all real numbers }x ;; \text{all real numbers} ;; \text{all real }x ;; x\in\mathbb{R} | \text{all real numbers }x>0 ;; \text{all positive real numbers }x ;; \text{all integers }x
Find $\mathbf{i}\times\mathbf{j}$. | (0,0,1) | \mathbf{k} ;; \hat{k} ;; (0,0,1) | \mathbf{j} ;; -\mathbf{k} ;; 2\mathbf{k} ;; \mathbf{i}\times\mathbf{j}
Find all primes $p$ with $p^2+1=0$. | \text{no solution} | \text{no such prime exists} ;; \text{There is no such prime} ;; \text{No such p exists} ;; \text{there are no such primes} | \text{such a prime exists} ;; \text{one such prime exists}
Which century? | 19 |  | \text{XVIII} ;; \text{XX} ;; \mathrm{XXI}
Which century? | \text{XIX} | \text{XIX} | \text{XX}
How many sides does a decagon have? | 10 | 10 ;; 10\text{ sides} | 10^\circ ;; 1000\% ;; 10\text{ degrees}
A pentagon has equal angles of 108 degrees. How many sides does it have? | 5 | 5 | 5^\circ
How many degrees are in a right angle? | 90 | 90^\circ ;; 90\text{ degrees} ;; 90 | 9000\%
Find the angle $x$ in the triangle. | 60 | 60^\circ ;; x=60^\circ | 60\text{ cm} ;; 6000\%
Two angles of a triangle are $50^\circ$ and $70^\circ$. What is the third? | 60 | 60^\circ ;; 60 |
What is the probability of heads? | \frac12 | 50\% ;; \frac12 |
A bag has 1 red and 3 blue balls. Find the probability that a red one is drawn. | \frac14 | 25\% ;; P=\frac14 | 25^\circ
What percent of 80 is 20? | 25 | 25\% ;; 25 | 25^\circ
By what percentage did the price rise? | 20 | 20\% |
What is the temperature at noon? | 15 | 15^\circ ;; 15^\circ\text{C} |
Find the sum of the first 10 positive integers. | 55 | \text{sum}=55 ;; 55 | 55^\circ ;; 5500\%
How much does the ticket cost? | 12 | \$12 ;; 12\text{ dollars} | 12^\circ ;; 1200\%
How many euros does she pay? | 30 | 30\text{ euros} | 30^\circ ;; 3000\%
Find the length of the diagonal. | 13 | 13\text{ cm} ;; d=13 ;; 13 | 13^\circ ;; 1300\% ;; 13\text{ cm}^2
What is the greatest common divisor of 12 and 18? | 6 | 6 | 6^\circ ;; 600\%
Wie viele Ecken hat ein Würfel? | 8 | 8\text{ Ecken} ;; 8 | 8^\circ ;; 800\%
Wie groß ist der Winkel? | 45 | 45^\circ |
Combien de côtés a un pentagone ? | 5 | 5 | 5^\circ ;; 500\%
Quelle est la mesure de l'angle ? | 30 | 30^\circ |
¿Cuánto mide el ángulo? | 75 | 75^\circ |
¿Cuántas caras tiene un cubo? | 6 | 6\text{ caras} | 6^\circ
Сколько вершин у куба? | 8 | 8 | 8^\circ ;; 800\%
Найдите угол $A$. | 40 | 40^\circ |
正方形有几条对称轴？ | 4 | 4 | 4^\circ ;; 400\%
求角 $A$ 的度数。 | 50 | 50^\circ |
三角形の内角の和は何度ですか。 | 180 | 180^\circ |
Quantos lados tem um hexágono? | 6 | 6\text{ lados} | 6^\circ
Qual é a probabilidade de sair cara? | \frac12 | 50\% |
Ile wierzchołków ma sześcian? | 8 | 8 | 8^\circ
Bir üçgenin kaç kenarı vardır? | 3 | 3 | 3^\circ ;; 300\%
Express $\sin^{-1}(1/2)$ in degrees. | 30 | 30^\circ |
School starts at 8:20 a.m. and ends at 1:05 p.m. How long does it last, as h:mm? | 4:45 | 4:45 | 4:45\text{ p.m.} ;; 4:45\text{ am}
A nap lasted from 1:10 p.m. to 2:40 p.m. Find its duration as h:mm. | 1:30 | 1:30 | 1:30\text{ p.m.}
A train leaves at 9:05 a.m. and travels 2 hours 10 minutes. At what time does it arrive? | 11:15 | 11:15\text{ a.m.} ;; 11:15 |
A film starts at 7:00 p.m. and lasts 1 hour 40 minutes. When does it end? | 8:40 | 8:40\text{ p.m.} |
The shop opens at 8:30 a.m. and closes at 5:15 p.m. How long is it open, as h:mm? | 8:45 | 8:45 | 8:45\text{ a.m.}
Ein Film beginnt um 8:10 p.m. und endet um 9:50 p.m. Wie lange dauert er (h:mm)? | 1:40 | 1:40 | 1:40\text{ p.m.}
A square has sides of 5 cm. Find its area. | 25 | 25\text{ cm}^2 ;; 25\text{ square centimeters} ;; A=25\text{ cm}^2 ;; 25 | 25\text{ cm} ;; 25\text{ cm}^3 ;; 25\text{ kg}
A box is 2 m by 3 m by 4 m. What is the volume? | 24 | 24\text{ m}^3 ;; 24\text{ cubic meters} ;; V=24 | 24\text{ m}^2 ;; 24\text{ m}
A jug is filled. What is its capacity? | 2 | 2\text{ L} ;; 2\text{ liters} | 2\text{ m} ;; 2\text{ kg}
A circle has radius 7 m. Find the circumference. | 14\pi | C=14\pi | 14\pi\text{ m}^2
A runner covers 100 m in 10 s. What is her speed? | 10 | 10\text{ m/s} ;; 10\text{ meters per second} ;; v=10 | 10\text{ m} ;; 10\text{ s} ;; 10\text{ m/s}^2
A body of 2 kg is pushed with 10 N. Find its acceleration. | 5 | 5\text{ m/s}^2 ;; a=5 | 5\text{ m/s} ;; 5\text{ N}
Find the force on a mass of 3 kg that is accelerated at 2 m/s². | 6 | 6\text{ N} ;; F=6 | 6\text{ J} ;; 6\text{ kg}
How far does the car go? | 120 | 120\text{ km} ;; 120\text{ miles} | 120\text{ km/h} ;; 120\text{ hours}
How long does the trip take? | 3 | 3\text{ hours} ;; t=3 | 3\text{ kg} ;; 3\text{ km}^2
How fast does the boat go? | 12 | 12\text{ mph} ;; 12\text{ km/h} | 12\text{ km}
How heavy is the box? | 9 | 9\text{ kg} ;; 9\text{ pounds} | 9\text{ m}
Find the power of a lamp that takes 2 A at 6 V. | 12 | 12\text{ W} ;; P=12 | 12\text{ V} ;; 12\text{ J}
Find the energy. | 50 | 50\text{ J} ;; E=50 | 50\text{ W}
What is the resistance? | 4 | 4\text{ ohms} ;; R=4 | 4\text{ A} ;; 4\text{ V}
Ein Rechteck ist 6 cm lang und 3 cm breit. Berechne den Umfang. | 18 | 18\text{ cm} ;; U=18 | 18\text{ cm}^2
Calcule la vitesse de la voiture. | 80 | 80\text{ km/h} | 80\text{ km}
Calcula el volumen del cubo de lado 2 m. | 8 | 8\text{ m}^3 | 8\text{ m}^2
Trova il perimetro del quadrato di lato 4 cm. | 16 | 16\text{ cm} | 16\text{ cm}^2
Найдите объём куба с ребром 3 см. | 27 | 27\text{ см}^3 | 27\text{ см}^2
求圆的周长。 | 6\pi | 6\pi\text{ cm} | 6\pi\text{ cm}^2
長方形の面積を求めなさい。 | 12 | 12\text{ cm}^2 | 12\text{ cm}
정사각형의 넓이를 구하시오. | 36 | 36\text{ cm}^2 | 36\text{ cm}
Tính diện tích hình vuông. | 49 | 49\text{ cm}^2 | 49\text{ cm}
Oblicz pole kwadratu o boku 5 cm. | 25 | 25\text{ cm}^2 | 25\text{ cm}
Bereken de oppervlakte. | 15 | 15\text{ m}^2 | 15\text{ m}
A triangle has area 24 square cm and base 8 cm. Find its height. | 6 | 6\text{ cm} ;; h=6 | 6\text{ cm}^2
A pack of 6 pens costs 12 dollars. How much is each pen? | 2 | 2\text{ each} ;; 2\text{ dollars each} ;; \$2\text{ each} | 2\text{ dollars in total} ;; 2\text{ dollars altogether}
Three friends share 24 candies equally. How many does one friend get? | 8 | 8\text{ each} | 8\text{ in total}
Tom had 12 apples and ate 5. How many apples are left? | 7 | 7\text{ left} ;; 7\text{ apples left} ;; 7\text{ remaining} ;; 7\text{ apples} | 7\text{ eaten} ;; 7\text{ each} ;; 7\text{ apples in total}
Tom had 12 apples and ate 5. How many apples does he have now? | 7 | 7\text{ left} ;; 7\text{ apples} | 7\text{ each}
Tom had 12 apples and ate 5. How many did he eat? | 5 | 5\text{ apples} ;; 5 | 5\text{ left} ;; 5\text{ remaining} ;; 5\text{ apples left}
Lily has 3 boxes with 4 pens each. How many pens does she have in total? | 12 | 12\text{ pens in total} ;; 12\text{ total} ;; 12\text{ altogether} | 12\text{ pens each} ;; 12\text{ left}
Lily has 3 boxes with 4 pens each. How many pens does she have? | 12 | 12\text{ pens in total} ;; 12\text{ pens} | 12\text{ pens left}
A well is 20 m deep. How deep is it? | 20 | 20\text{ m deep} ;; 20\text{ deep} | 20\text{ m wide}
A wall is 3 m high and 5 m long. How high is the wall? | 3 | 3\text{ m high} ;; 3\text{ m tall} | 3\text{ m wide} ;; 3\text{ years old}
Ann is 4 years older than Bob, who is 8. How old is Ann? | 12 | 12\text{ years old} | 12\text{ apart}
Two ships are 30 km and 50 km from port on opposite sides. How far apart are they? | 80 | 80\text{ km apart} ;; 80\text{ km} | 80\text{ km each}
小华有30元，花了12元，还剩多少元？ | 18 | \text{还剩}18\text{元} ;; 18\text{元} | \text{花了}18\text{元} ;; \text{每人}18\text{元}
每盒有6支笔，5盒一共有多少支？ | 30 | \text{一共有}30\text{支} ;; 30\text{支} | \text{每盒}30\text{支} ;; \text{还剩}30\text{支}
30个苹果平均分给5人，每人分几个？ | 6 | \text{每人}6\text{个} ;; 6\text{个} | \text{一共}6\text{个}
小明读了40页，还剩20页，这本书一共多少页？ | 60 | \text{一共}60\text{页} | \text{还剩}60\text{页} ;; \text{每天}60\text{页}
Sam earned 50 dollars and saved 20 dollars. How much did he spend? | 30 | \$30 ;; 30\text{ dollars} | \$30\text{ saved} ;; 30\text{ earned}
How many seats are empty if 50 of 80 are taken? | 30 | 30\text{ seats} ;; 30\text{ empty seats} | 30\text{ each}
Find the product of the roots of $x^2-7x+10=0$. | 10 | \text{product}=10 ;; \text{The product is }10 ;; \text{Answer: }10 ;; \text{value}=10 ;; \text{result}=10 | \text{sum}=10 ;; \text{probability}=10
Solve $x-4=2$. | 6 | \text{solution: }x=6 ;; \text{answer}=6 | \text{number of solutions}=6 ;; \text{number of roots: }6 ;; \text{area}=6
How many ways are there to order 3 books? | 6 | \text{number of ways}=6 ;; \text{total}=6 ;; 6\text{ ways} | \text{probability}=6 ;; \text{percentage}=6
What is the probability of rolling a 6? | \frac16 | \text{probability}=\frac16 ;; P=\frac16 ;; \text{Probability: }\frac16 | \text{area}=\frac16 ;; \text{sum}=\frac16
Find the area of a square of side 4. | 16 | \text{area}=16 ;; \text{Area: }16 ;; A=16 | \text{perimeter}=16 ;; \text{volume}=16 ;; \text{sum}=16
Find the mean of 2, 4 and 9. | 5 | \text{mean}=5 ;; \bar{x}=5 | \text{sum}=5 ;; \text{probability}=5
A tank of 90 liters is filled at 9 liters per minute. How long does it take? | 10 | 10\text{ minutes} ;; t=10 | \text{weight}=10 ;; \text{volume}=10
What is the total cost of 3 pens at 2 dollars? | 6 | \text{total cost}=6 ;; \text{cost}=6 ;; \text{total}=6 | \text{area}=6 ;; \text{probability}=6
What percent of 50 is 10? | 20 | \text{percentage}=20 ;; 20\% | \text{area}=20
Find the remainder when 17 is divided by 5. | 2 | \text{remainder}=2 | \text{sum}=2 ;; \text{number of solutions}=2
Find the least common multiple of 4 and 6. | 12 | \text{LCM}=12 | \text{total number}=12 ;; \text{sum}=12
How fast does a train go that covers 200 km in 4 hours? | 50 | v=50 | \text{length}=50 ;; \text{area}=50
Find the number of solutions of $x^2=4$. | 2 | \text{number of solutions}=2 ;; 2\text{ solutions} | \text{sum}=2
Compute the determinant of $\begin{pmatrix}3&1\\2&4\end{pmatrix}$. | 10 | \text{determinant}=10 | \text{sum}=10 ;; \text{area}=10
Solve $3x=12$. | 4 | x=4 ;; 4 | 4\text{ solutions} ;; 4\text{ ways} ;; 4\text{ roots} ;; 4\text{ people}
Evaluate $\log_3 81$. | 4 | 4 | 4\text{ ways} ;; 4\text{ solutions} ;; 4\text{ numbers} ;; 4\text{ cases}
What is the largest prime factor of 42? | 7 | 7 | 7\text{ factors} ;; 7\text{ primes} ;; 7\text{ numbers}
Find the slope of the line through $(1,1)$ and $(3,7)$. | 3 | 3 ;; m=3 ;; \text{slope}=3 | 3\text{ points} ;; 3\text{ lines}
Find the area of the triangle with base 4 and height 3. | 6 | 6\text{ square units} ;; 6\text{ units}^2 ;; A=6 | 6\text{ triangles} ;; 6\text{ sides}
What is the distance between $(0,0)$ and $(3,4)$? | 5 | 5\text{ units} ;; 5 | 5\text{ points}
How many solutions does $x^2=9$ have? | 2 | 2\text{ solutions} ;; 2 |
Find the number of ways to choose 2 of 5 people. | 10 | 10\text{ ways} ;; 10 |
In a box are 3 red and 4 blue marbles. What is the total? | 7 | 7\text{ marbles} |
Tom has 12 marbles, which is twice as many as Ann has. How many has Ann? | 6 | 6\text{ marbles} |
There are 5 boxes with 6 apples in each. Find the number of apples. | 30 | 30\text{ apples} |
Find the remainder when 20 is divided by 6. | 2 | 2 | 2\text{ numbers} ;; 2\text{ integers}
Find the rank of the matrix $\begin{pmatrix}1&0\\0&1\end{pmatrix}$. | 2 | 2 ;; \text{rank}=2 | 2\text{ solutions} ;; 2\text{ rows}
Find the smallest integer $n$ with $3^n>50$. | 4 | n=4 ;; 4 | 4\text{ integers} ;; 4\text{ solutions}
Jane reads 20 pages a day. How much does she read in 5 days? | 100 | 100\text{ pages} |
Find the perimeter of a square with sides of 4. | 16 | P=16 ;; p=16 ;; 16 | A=16 ;; V=16 ;; S=16
Find the area of a rectangle that is 3 by 5. | 15 | A=15 ;; S=15 | P=15 ;; V=15
A cube has edges of 2. Find its volume. | 8 | V=8 | S=8 ;; A=8
A circle has a radius of 4. Find its diameter. | 8 | d=8 ;; D=8 | r=8 ;; C=8
A circle has a circumference of $10\pi$. Find its radius. | 5 | r=5 ;; R=5 | d=5 ;; C=5
Find the speed of a car that goes 90 km in 2 hours. | 45 | v=45 | t=45 ;; d=45
Find the time that a ball falls from 20 m. | 2 | t=2 | h=2 ;; v=2
A wave has a frequency of 4 hertz. Find its period. | 0.25 | T=0.25 | f=0.25
How many edges has a cube? | 12 | E=12 | F=12 ;; V=12
How many vertices has a cube? | 8 | V=8 | F=8
Find the number $k$ for which $kx=4$ at $x=2$. | 2 | k=2 |
Let $d$ be the length of the diagonal of a 3 by 4 rectangle. Find its length. | 5 | d=5 |
An arithmetic sequence starts 2, 5, 8. Find the common difference. | 3 | d=3 ;; r=3 | a_1=3 ;; S=3
Find the voltage across a resistor of 3 ohms that carries 4 amperes. | 12 | U=12 ;; V=12 | R=12 ;; I=12
What is the mass of the ball? | 3 | m=3 | F=3 ;; v=3
Berechne den Flächeninhalt. | 20 | A=20 | U=20 ;; V=20
Berechne den Umfang. | 20 | U=20 | A=20
Calculer l'aire. | 12 | A=12 | P=12 ;; V=12
求圆的面积。 | 9\pi | S=9\pi | C=9\pi ;; r=9\pi
Найдите площадь квадрата. | 16 | S=16 | P=16 ;; V=16
Find the slope of $y=2x+1$. | 2 | m=2 ;; k=2 | b=2 ;; A=2
Поезд прошёл 120 км за 2 часа. Найдите скорость. | 60 | 60\text{ км в час} ;; 60\text{ км/ч} | 60\text{ км}
Ein Zug fährt 120 km in 2 Stunden. Berechne die Geschwindigkeit. | 60 | 60\text{ km pro Stunde} ;; 60\text{ km/h} | 60\text{ km} ;; 60\text{ Stunden}
Un tren recorre 120 km en 2 horas. Calcula la velocidad. | 60 | 60\text{ km por hora} ;; 60\text{ km/h} | 60\text{ km}
A train goes 120 miles in 2 hours. Find its speed. | 60 | 60\text{ miles an hour} ;; 60\text{ miles per hour} | 60\text{ miles} ;; 60\text{ hours}
Tom sold 10 books at $5 and 4 at $2. What is the total revenue? | 58 | \$58 ;; 58\text{ dollars} ;; R=58 | 58^\circ ;; 5800\%
What is the total salary of 3 workers who get 100 dollars each? | 300 | \$300 ;; 300\text{ dollars} | 300^\circ
What is Alan's age if Tom is 10 and Alan is twice as old? | 20 | 20\text{ years} ;; 20\text{ years old} | 20\text{ kg}
What is the height of the pole if it is twice as tall as 6 m? | 12 | 12\text{ m} | 12\text{ m}^2
What is the last digit of $7^{10}$? | 9 | d=9 ;; 9 | 9^\circ
What is the highest power of $2$ that divides 96? | 5 | n=5 ;; k=5 |
How long will the trip be? | 50 | 50\text{ miles} ;; 50\text{ minutes} | 50\text{ kg}
How many hours does it take? | 6 | t=6 ;; x=6 ;; 6\text{ hours} |
How many boys are there in the class? | 6 | b=6 ;; n=6 ;; 6\text{ boys} | 6\text{ girls}
A square has area 9. How many such squares fill an area of 54? | 6 | n=6 ;; s=6 | A=6
How much of the pizza is left? | 0.25 | 25\% ;; \frac14 | 25
What was his average if he hit 3 of 10? | 0.3 | 30\% | 30^\circ
某商品进价80元,售价100元,利润率是多少? | 0.25 | 25\% ;; \frac14 | 25^\circ
求圆的周率的平方根的整数部分。 | 1 | 1 | 100\%
In the figure, find $x$. | 50 | 50^\circ ;; x=50^\circ | 5000\%
如图,AB∥CD,求x的值。 | 50 | 50^\circ ;; x=50^\circ | 5000\%
In the figure, find the area of the square. | 50 | 50 | 50^\circ
如图,求三角形的个数。 | 12 | 12\text{个} | 12^\circ
$50!$의 끝에 연속하여 나오는 0의 개수를 구하시오. | 12 | 12\text{개} ;; 12개 | 12^\circ ;; 12\text{배}
남은 학생 수를 구하시오. | 7 | 7\text{명} ;; 7명 | 7\text{배}
경우의 수를 구하시오. | 24 | 24\text{가지} ;; 24가지 | 24\text{배}
三人が並ぶ方法の数を求めよ。 | 6 | 6\text{通り} ;; 6通り | 6\text{倍}
삼각형의 넓이를 구하시오. | 6 | 6 | 6\text{명}
길이를 구하시오. | 6 | 6\text{ cm} | 6\text{개}
Tom has 5 apples. He eats 2. How many apples does he have? | 3 | 3\text{ apples left} ;; 3\text{ apples} | 3\text{ apples each}
Six friends split a 60 dollar bill. How much does everyone pay? | 10 | \$10\text{ each} ;; \$10 | \$10\text{ in total}
How many girls of the 60 are not in the girl scout? | 40 | 40\text{ girls} ;; 40\text{ girls not in the girl scout} | 40\text{ scouts}
已知函数$f(x)=x^2-2x$,求$f(x)$的最小值。 | -1 | f(x)_{\min}=-1 ;; f_{\min}=-1 ;; f_{\text{min}}=-1 ;; f(x)=-1 | f(x)_{\max}=-1 ;; f=-1 ;; g(x)_{\min}=-1
Find the minimum value of $f(x)=x^2-2x$. | -1 | f(x)_{\min}=-1 ;; f_{\min}(x)=-1 | f(x)_{\max}=-1 ;; f(y)_{\min}=-1
Solve for $x$ and $y$: $x+y=3$, $x-y=1$. | (2,1) | (x,y)=(2,1) ;; (x, y) = (2, 1) | (y,x)=(2,1) ;; (x,y)=(1,2) ;; (a,b)=(2,1)
Find the slant height of the cone. | 5 | s=5 ;; l=5 | V=5
"""  # noqa: E501


def rows() -> list[tuple[str, str, str, bool]]:
    """Question, reference, answer, and whether it is right."""
    found = []
    for line in ASKED.strip().splitlines():
        question, reference, right, wrong = (part.strip() for part in line.split("|"))
        for answers, equal in ((right, True), (wrong, False)):
            found += [(question, reference, one.strip(), equal) for one in answers.split(";;") if one.strip()]
    return found


@pytest.mark.parametrize("rows", together(rows()), ids=first)
def test_the_words_of_a_question_stand_for_what_it_asks(rows: list[tuple[str, str, str, bool]]) -> None:
    wrong = []
    for question, reference, answer, equal in rows:
        verdict = compare(answer, reference, symbolic=shared().compare, question=question)
        if (verdict.outcome == "equal") is not equal:
            wrong.append((answer, reference, question, verdict.reason))
    assert not wrong


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("zweiundvierzig", (42, 1)),
        ("einhunderteinundzwanzig Äpfel", (121, 1)),
        ("dreißig", (30, 1)),
        ("vierzig", (40, 1)),
        ("quatre-vingt-dix-sept", (97, 1)),
        ("soixante et onze", (71, 3)),
        ("deux cents", (200, 2)),
        ("veintidós", (22, 1)),
        ("ciento veinte", (120, 2)),
        ("ventotto", (28, 1)),
        ("duecentotré", (203, 1)),
        ("cento e vinte e um", (121, 5)),
        ("триста сорок", (340, 2)),
        ("две", (2, 1)),
        ("once", None),
        ("445 six", None),
        ("sette o otto", (7, 1)),
        ("rien", None),
    ],
)
def test_a_number_in_words_is_read_by_the_grammar_of_its_language(words: str, found: tuple[int, int] | None) -> None:
    assert number_in_words(words.split()) == found


@pytest.mark.parametrize(
    ("output", "others"),
    [
        ("Method 1:\n\n$\\boxed{16}$\n\nMethod 2:\n\n$\\boxed{17}$", ("16",)),
        ("**Option A**\n\n\\boxed{16}\n\n**Option B**\n\n\\boxed{17}", ("16",)),
        ("方法一：\n\n\\boxed{16}\n\n方法二：\n\n\\boxed{17}", ("16",)),
        ("Method 1:\n\n$\\boxed{17}$\n\nMethod 2:\n\n$\\boxed{17}$", ()),
        ("Method 1:\n\n$\\boxed{16}$\n\n## Conclusion\n\n\\boxed{17}", ()),
        ("Step 1:\n\nWe get \\boxed{16}.\n\nStep 2:\n\nWe get \\boxed{17}.", ()),
    ],
)
def test_values_under_parallel_headings_stand_side_by_side(output: str, others: tuple[str, ...]) -> None:
    assert find_answer(output, ("boxed",), by_value=True).others == others


@pytest.mark.parametrize(
    ("answer", "words", "formulas"),
    [
        ("5 apples.", ["apples"], 1),
        ("apples: 5", ["apples"], 1),
        ("apples !", ["apples"], 0),
        (". apples", ["apples"], 0),
        ("$5$ red, $6$ blue.", ["red", "blue"], 2),
        ("5 ; 6", [], 1),
        (" ~.", [], 0),
        ("It isn't 5", ["it", "is", "not"], 1),
    ],
)
def test_marks_alone_are_no_value_of_an_answer(answer: str, words: list[str], formulas: int) -> None:
    said = list(_said(answer))
    assert [one.text for one in said if one.is_word] == words
    assert sum(not one.is_word for one in said) == formulas
